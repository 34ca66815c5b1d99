package classifier

import (
	"strings"
	"testing"
)

// MEGA-08 and what each detector fires on, and on what that looks like it.
func TestDetectorsOnTextsOfTheirKind(t *testing.T) {
	for _, row := range []struct{ name, rule, text string }{
		{"an AddressSanitizer report", "sanitizer-trace", trace},
		{"a ThreadSanitizer report", "sanitizer-trace",
			"WARNING: ThreadSanitizer: data race (pid=7)\n  Write of size 4 at 0x7b by thread T1:\n    #0 bump() " +
				"/src/count.cc:8 (count+0x4a1)\n"},
		{"UndefinedBehaviorSanitizer in one line", "sanitizer-trace",
			"src/ring.cpp:31:17: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in " +
				"type 'int'\n"},
		{"valgrind", "sanitizer-trace",
			"==991== Invalid read of size 8\n==991==    at 0x109A: tail (list.cc:40)\n==991==  Address 0x4a is 0 " +
				"bytes after a block\n"},
		{"a gdb session", "stack-trace",
			"(gdb) bt\n#0  0x00007ffff7a4 in raise () from /lib/libc.so.6\n#1  0x0000555555 in drain (q=0x0) at " +
				"queue.cpp:88\n"},
		{"a quoted gdb session", "stack-trace",
			"> (gdb) run\n> Program received signal SIGSEGV, Segmentation fault.\n"},
		{"an lldb session", "stack-trace",
			"* thread #1, name = 'app', stop reason = signal SIGABRT\n  * frame #0: 0x00007fff " +
				"libsystem`__pthread_kill + 10\n    frame #1: 0x000000010 app`main at main.cpp:12\n"},
		{"last words", "stack-trace",
			"terminate called after throwing an instance of 'std::out_of_range'\n  what():  map::at\nAborted (core " +
				"dumped)\n"},
		{"a missing symbol", "linker-error",
			"main.o: in function `main':\nmain.cpp:(.text+0x1b): undefined reference to `Engine::start()'\ncollect2: " +
				"error: ld returned 1 exit status\n"},
		{"a symbol twice, with MSVC", "linker-error",
			"b.obj : error LNK2005: \"int g\" already defined in a.obj\napp.exe : fatal error LNK1169: one or more " +
				"multiply defined symbols found\n"},
		{"a failed instantiation", "instantiation-error",
			"box.hpp: In instantiation of 'struct box<void>':\nmain.cpp:9:14:   required from here\nbox.hpp:4:7: " +
				"error: forming reference to void\n"},
		{"unsatisfied constraints", "instantiation-error",
			"a.cpp:7:9: error: no matching function for call to 'f(int)'\na.cpp:3:6: note: candidate: " +
				"'template<class T> requires Ok<T> void f(T)'\na.cpp:3:6: note: constraints not satisfied\n"},
		{"a build stopped by a failed instantiation", "instantiation-error",
			"box.hpp: In instantiation of 'struct box<void>':\nm.cpp:9:14:   required from here\nninja: build " +
				"stopped: subcommand failed.\nmake: *** [all] Error 1\n"},
		{"CMake that does not find", "build-error",
			"-- Configuring incomplete, errors occurred!\nCMake Error at CMakeLists.txt:12 (find_package):\n  Could " +
				"not find a package configuration file\n"},
		{"make that stops", "build-error",
			"make[1]: *** No rule to make target 'x.o'.  Stop.\nmake: *** [all] Error 2\n"},
		{"meson", "build-error", "meson.build:7:0: ERROR: Dependency \"fmt\" not found\n"},
		{"a CMake file", "build-file",
			"cmake_minimum_required(VERSION 3.20)\nproject(demo CXX)\nadd_executable(demo " +
				"main.cpp)\ntarget_link_libraries(demo PRIVATE fmt::fmt)\n"},
		{"a Bazel file", "build-file",
			"cc_library(\n    name = \"ring\",\n    srcs = [\"ring.cc\"],\n)\ncc_test(\n    name = " +
				"\"ring_test\",\n)\n"},
		{"a makefile", "build-file", "app: main.o ring.o\n\t$(CXX) $(LDFLAGS) -o $@ $^\n"},
		{"a SFINAE-heavy header", "sfinae-header", sfinae},
		{"concepts", "sfinae-header", concepts},
	} {
		v, err := cascade(t, nil).Classify(Input{Text: []byte(row.text)})
		if err != nil || v.Rule != "detector "+row.rule || len(v.Cues) == 0 {
			t.Errorf("%s: %s %q %v, want %s", row.name, v.Specialist, v.Rule, v.Cues, row.rule)
		}
	}
}

//nolint:lll // raw text that cannot be broken
const sfinae = `template <class...> struct make_void { using type = void; };
template <class, class = void> struct has_size : std::false_type {};
template <class T> struct has_size<T, std::void_t<decltype(std::declval<T&>().size())>> : std::true_type {};
template <class, class = void> struct has_swap : std::false_type {};
template <class T> struct has_swap<T, std::void_t<decltype(std::declval<T&>().swap(std::declval<T&>()))>> : std::true_type {};
template <class T> using sized = std::enable_if_t<has_size<T>::value>;
template <class T, class U> using both = std::conjunction<has_size<T>, has_swap<U>>;
template <class T, std::enable_if_t<has_size<T>::value && !has_swap<T>::value, int> = 0> constexpr int rank(T const&);
template <class T, std::enable_if_t<has_swap<T>::value, int> = 0> constexpr int rank(T const&);
template <class... Ts> struct all_sized : std::bool_constant<(has_size<Ts>::value && ...)> {};
`

//nolint:lll // raw text that cannot be broken
const concepts = `template <class T> concept Sized = requires(T const& t) { { t.size() } -> std::convertible_to<unsigned long>; };
template <class T> concept Swappable = requires(T& a, T& b) { a.swap(b); };
template <class T> concept Both = Sized<T> && Swappable<T>;
template <class T> concept Same = std::is_same_v<T, std::remove_cvref_t<T>>;
template <class T> requires Both<T> struct wrap<T, true>;
template <class T> requires Sized<T> struct wrap<T, false>;
template <class... Ts> requires (Both<Ts> && ...) struct all;
template <class... Ts> using first = typename head<Ts...>::type;
template <class T> requires Same<T> constexpr bool plain_v = requires { typename T::tag; };
`

// What only looks like it: prose that mentions, code that quotes, templates of something else.
func TestDetectorsLeaveTheRestAlone(t *testing.T) {
	for name, text := range map[string]string{
		"prose": prose,
		"a mention of templates": "This class requires a template argument; the concept is explained in chapter 3, " +
			"type by type, value by value.",
		"a mention of gdb": "I stepped through it with gdb and the backtrace looks fine. See issue #12 and " +
			"PR #14.",
		"a list of issues": "#1 crash at start\n#2 wrong colour\n#3 slow (see #1) from last year\n",
		"a heading":        "# 0x10 tips\n## 1 more\n#include <string>\n",
		"a trace in a raw string": "const char* sample = R\"log(\n==1==ERROR: AddressSanitizer: x\n#0 0x12 in f " +
			"a.cc:1\n)log\";\n",
		"a trace in a comment": "/*\n#0 0x12 in f () at a.cc:1\n(gdb) bt\n*/\nint f();\n",
		"a linker message in code": "if (line.find(\"undefined reference to\") != npos) hits++; // undefined " +
			"reference to\n",
		"one CMake variable":  "What is CMAKE_CXX_STANDARD for, and CMAKE_CXX_EXTENSIONS, and CMAKE_BUILD_TYPE?",
		"a call like CMake's": "void f() {\n  int n = find_path(a, b);\n}\n",
		"a template of an allocator": strings.ReplaceAll(strings.ReplaceAll(sfinae, "has_size", "allocator_size"),
			"rank", "buffer_rank"),
		"tests of types": strings.Repeat("static_assert(std::is_same_v<decltype(f(1)), int>);\n", 40),
		"template code that runs": strings.Repeat(
			"template <class T> T add(T a, T b) { if (a > b) return a; for (;;) return a + b; }\n", 40),
		"Java generics": "public interface Fn<R, E extends Throwable> {\n  static <R, E extends " +
			"Throwable> Fn<R, E> nop() { return NOP; }\n}\n",
		"an ordinary compiler error": "main.cpp:3:5: error: 'cout' was not declared in this scope\n    3 |     cout " +
			"<< 1;\n",
		"a warning":                "main.cpp:3:5: warning: unused variable 'x' [-Wunused-variable]\n",
		"a ruler":                  "=====\n== 1 ==\n==\n==1=\n",
		"an unfinished raw string": "R\"(" + "text that never ends",
		"binary":                   "\x00\xff\xfe\x80\x81==\x00#\xff",
	} {
		v, err := cascade(t, nil).Classify(Input{Text: []byte(text)})
		if err != nil || v.RoutedBy != ByFallback {
			t.Errorf("%s: %s by %q, cues %v, %v", name, v.Specialist, v.Rule, v.Cues, err)
		}
	}
}

// Hints speak where the model cannot, and only there.
func TestHintsStandInForAModelThatCannotSay(t *testing.T) {
	text := []byte(
		"std::mutex m; std::condition_variable cv; std::atomic<int> n;\nvoid f() { std::unique_lock l(m); " +
			"std::lock_guard g(m); std::thread t; }\n")
	v, err := cascade(t, nil).Classify(Input{Text: text})
	if err != nil || v.Specialist != "concurrency" || v.RoutedBy != ByDetector || v.Degraded == nil {
		t.Fatalf("without a model: %+v, %v", v, err)
	}
	v, err = cascade(t, func(c *Config) { c.Model = &fake{out: sure, reject: 0.05} }).Classify(Input{Text: text})
	if err != nil || v.Specialist != "memory" || v.RoutedBy != ByClassifier {
		t.Fatalf("with a model: %+v, %v", v, err)
	}
	v, err = cascade(t, func(c *Config) { c.Detectors = false }).Classify(Input{Text: text})
	if err != nil || v.RoutedBy != ByFallback {
		t.Fatalf("detectors off: %+v, %v", v, err)
	}
}

func TestCuesAreNamedStrongestFirst(t *testing.T) {
	v, err := cascade(t, nil).Classify(Input{Text: []byte(trace)})
	if err != nil || len(v.Cues) != 2 || v.Cues[0] != "sanitizer-report ×1" || v.Cues[1] != "stack-frame ×1" {
		t.Fatalf("%q, %v", v.Cues, err)
	}
}

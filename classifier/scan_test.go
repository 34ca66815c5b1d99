package classifier

import (
	"strings"
	"testing"
)

func TestTheScannerReadsCodeAndNotWhatItQuotes(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       map[cue]uint32
	}{
		{"a template head", "template <class T> void f(T);", map[cue]uint32{cueTemplateHead: 1}},
		{"a head on two lines", "template\n<class T> void f(T);", map[cue]uint32{cueTemplateHead: 1}},
		{"the word template", "a template of a letter", map[cue]uint32{cueTemplateHead: 0}},
		{"in a line comment", "// template <class T>\nint x;", map[cue]uint32{cueTemplateHead: 0}},
		{"behind a comment", "/* a */ template <class T> /* b */ struct x;", map[cue]uint32{cueTemplateHead: 1}},
		{"a comment that never ends", "src/*.cpp template <class T>", map[cue]uint32{cueTemplateHead: 1}},
		{"in a string", `auto s = "template <class T>";`, map[cue]uint32{cueTemplateHead: 0}},
		{"behind an escaped quote", `auto s = "\"template <class T>"; template <class U> int f();`,
			map[cue]uint32{cueTemplateHead: 1}},
		{"a string ends with its line", "it says \"oops\n template <class T>", map[cue]uint32{cueTemplateHead: 1}},
		{"in a raw string", `auto s = R"(template <class T>)"; template <class U> int f();`,
			map[cue]uint32{cueTemplateHead: 1}},
		{"in a raw string with a tag", `auto s = R"ab(template <class T> )" )ab"; return`,
			map[cue]uint32{cueTemplateHead: 0, cueRuntime: 1}},
		{"a raw string that never ends", `R"(never template <class T>`, map[cue]uint32{cueTemplateHead: 0}},
		{"a quote as a character", `char c = '"'; template <class T> int f();`, map[cue]uint32{cueTemplateHead: 1}},
		{"an apostrophe", "it doesn't matter; template <class T> int f();", map[cue]uint32{cueTemplateHead: 1}},
		{"separated digits", "int x = 1'000'000; template <class T> int f();", map[cue]uint32{cueTemplateHead: 1}},
		{"a URL is no comment", "see https://example.org/x return", map[cue]uint32{cueRuntime: 1}},
		{"a directive is passed", "#define T template <class X>\n#include <type_traits>\n# include <atomic>",
			map[cue]uint32{cueTemplateHead: 0, cueTrait: 1, cueAtomic: 1}},
		{"std names", "std::vector<int> v; std :: map m; std::chrono::seconds s; mystd::vector w;",
			map[cue]uint32{cueContainer: 1}},
		{"a name that begins alike", "template_ <x>; enable_if_not; stdvector",
			map[cue]uint32{cueTemplateHead: 0, cueMeta: 0, cueContainer: 0}},
		{
			"packs",
			"template <class... Ts, typename... Us> void f(Ts... ts) { g(sizeof...(Ts), ts...); } void h(int, ...);",
			map[cue]uint32{cuePack: 4}},
		{
			"requires as a clause",
			"template <class T> requires Ok<T> void f();\ntemplate <class T>\n  requires Ok<T>\nvoid g();",
			map[cue]uint32{cueConstraint: 2}},
		{"requires as a word", "it requires care", map[cue]uint32{cueConstraint: 0}},
		{"a specialisation", "template <class T> struct x<T*> {}; template <class T> struct y {}; struct z {};",
			map[cue]uint32{cueSpecialised: 1}},
		{"members", "typename T::type a; T::value; int type, value;", map[cue]uint32{cueMember: 2}},
		{"topics in names", "vertexIterator my_buffer SocketPath iterators", map[cue]uint32{cueTopic: 5}},
		{"a make variable", "$(CXX) -o $@ $(objects) $(A) $(CXX", map[cue]uint32{cueBuildStep: 1}},
		{"a statement of CMake, indented", "  add_library(x)\nint y = add_library(x);",
			map[cue]uint32{cueBuildStep: 1}},
		{"a diagnostic about a template", "a.cc:1:2: error: invalid use of template-name 'x'\n",
			map[cue]uint32{cueInstantiation: 1, cueDiagnostic: 0}},
		{"another diagnostic", "a.cc:1:2: error: expected ';'\na.cc:1:2: note: here\n",
			map[cue]uint32{cueInstantiation: 0, cueDiagnostic: 1}},
	} {
		var seen sheet
		scan([]byte(row.text), &seen)
		for c, n := range row.want {
			if seen[c] != n {
				t.Errorf("%s: %s ×%d, want %d", row.name, c, seen[c], n)
			}
		}
	}
}

// The cost is steps, which do not depend on the machine: at most stepsPerByte a byte, whatever the text.
const stepsPerByte = 40

// units are what a text can be repeated from to make a naive scanner quadratic.
var units = []string{
	"a", " ", "\n", "\\", `"`, `"\"`, "'", "'a", "/", "/*", "/* ", "*/", "//", `R"`, `R"(`, `R"x(`, `)x"`, "#", "# ",
	"#0 ", "#include <", "=", "==1==",
	"...", "a...", "<", ">", ">struct x", "template<", "std::", "std::x", ": error: ", ":error: template ", "$(", "$(A",
	"[", "[Switching ",
	"\xff", "\x00", "é", "1'", "0x", "In instantiation of ", "undefined reference to", "requires(", "  add_test",
	"x_y", "aBcD", "Thread ", "\r\n",
}

func TestTheScannerIsLinearInAnyText(t *testing.T) {
	for _, unit := range units {
		for _, size := range []int{1 << 12, 1 << 16} {
			text := []byte(strings.Repeat(unit, size/len(unit)))
			var seen sheet
			if steps := scan(text, &seen); steps < len(text) || steps > stepsPerByte*(len(text)+1) {
				t.Errorf("%q ×%d: %d steps for %d bytes", unit, size/len(unit), steps, len(text))
			}
		}
	}
}

func TestTheScannerAllocatesNothing(t *testing.T) {
	c := cascade(t, nil)
	text := []byte(prose)
	if n := testing.AllocsPerRun(10, func() { _, _ = c.Classify(Input{Text: text}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzScan(f *testing.F) {
	for _, unit := range units {
		f.Add(unit + unit)
	}
	f.Add(trace)
	f.Add(sfinae)
	f.Add(prose)
	c, err := New(Config{Specialists: eight, Fallback: "algo", Detectors: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, repeat := range []int{1, 50} {
			long := []byte(strings.Repeat(text, repeat))
			var seen sheet
			if steps := scan(long, &seen); steps < len(long) || steps > stepsPerByte*(len(long)+1) {
				t.Fatalf("%d steps for %d bytes", steps, len(long))
			}
			if v, err := c.Classify(Input{Text: long}); err != nil || v.Specialist == "" {
				t.Fatalf("%+v, %v", v, err)
			}
		}
	})
}

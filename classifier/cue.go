package classifier

// cue is one kind of evidence that the scanner counts.
type cue uint8

const (
	noCue cue = iota

	// Debugging: what tools print when a program goes wrong.
	cueSanitizer    // a sanitizer's report: ==1==ERROR: AddressSanitizer, WARNING: ThreadSanitizer, SUMMARY: …
	cueRuntimeError // UndefinedBehaviorSanitizer: file:1:2: runtime error: …
	cueValgrind     // ==1== Invalid read of size 4
	cueFrame        // a frame of a stack: #0  0x… in f () at file:1, frame #0: …
	cueDebugger     // a debugger's prompt or stop: (gdb) bt, Program received signal
	cueCrash        // last words: Segmentation fault, terminate called, core dumped

	// Building: what build tools print and read.
	cueBuildError   // CMake Error, meson.build:3:0: ERROR, configure: error: …
	cueBuildStopped // make: *** …, ninja: build stopped: the cause may be another
	cueBuildOutput  // -- Configuring done, [3/9] Linking …
	cueLinker       // undefined reference to, ld returned 1, multiple definition of, LNK2019
	cueBuildStep    // a statement of a build file: target_link_libraries(…), cc_library(…)
	cueBuildName    // CMAKE_CXX_FLAGS, CMakeLists, LDFLAGS, $(CXX)

	// Compiling.
	cueInstantiation // a diagnostic about templates: required from here, In instantiation of
	cueDiagnostic    // any other error: file:1:2: error: …

	// Templates.
	cueTemplateHead // template <
	cueSpecialised  // template <…> struct x<T*>
	cueMeta         // enable_if, void_t, conditional_t, index_sequence …
	cueTrait        // is_same, is_convertible_v, true_type …
	cueConstraint   // requires, concept
	cueDeduction    // decltype(, declval
	cuePack         // class..., Ts..., sizeof...
	cueMember       // ::type, ::value

	// The others.
	cueAtomic    // std::atomic, memory_order, compare_exchange, fences
	cueThread    // std::thread, std::mutex, lock_guard, pthread_…
	cueOwnership // std::unique_ptr, make_shared, weak_ptr
	cueAllocate  // malloc, std::allocator_traits, std::pmr
	cueContainer // std::vector, std::map …
	cueAlgorithm // std::sort, std::transform …
	cueRange     // std::ranges::, std::views::

	// What speaks against a text about types alone.
	cueRuntime   // a statement that runs: return, for (, new …
	cueAssertion // static_assert: types are tested, not made
	cueTopic     // a part of a name that is about something else: iterator, buffer, socket …
	cueWord      // any identifier or word

	cues int = iota
)

// cueNames are how cues appear in receipts.
var cueNames = [cues]string{
	cueSanitizer: "sanitizer-report", cueRuntimeError: "runtime-error", cueValgrind: "valgrind",
	cueFrame:    "stack-frame",
	cueDebugger: "debugger", cueCrash: "crash",
	cueBuildError: "build-error", cueBuildStopped: "build-stopped", cueBuildOutput: "build-output",
	cueLinker:    "linker-error",
	cueBuildStep: "build-statement", cueBuildName: "build-variable",
	cueInstantiation: "instantiation-error", cueDiagnostic: "compiler-error",
	cueTemplateHead: "template-head", cueSpecialised: "specialisation", cueMeta: "metafunction", cueTrait: "type-trait",
	cueConstraint: "constraint", cueDeduction: "deduction", cuePack: "parameter-pack", cueMember: "dependent-member",
	cueAtomic: "atomic", cueThread: "thread", cueOwnership: "ownership", cueAllocate: "allocation",
	cueContainer: "container", cueAlgorithm: "algorithm", cueRange: "range",
	cueRuntime: "statement", cueAssertion: "assertion", cueTopic: "topic", cueWord: "word",
}

func (c cue) String() string { return cueNames[c] }

// sheet is how often each cue was seen.
type sheet [cues]uint32

package classifier

import "strings"

// need is what has to stand around a word for it to count.
type need uint8

const (
	alone      need = iota
	angle           // "<" follows
	call            // "(" follows
	packed          // "..." follows at once
	clause          // behind ">" or ")", or before "(" or "{": the keyword of a constraint, not the English word
	statement       // the first word of its line, and "(" follows
	phrase          // then follows at once
	scoped          // behind "::"
	special         // behind a template head, before a name and "<"
	colon           // behind ":", and then follows at once
	diagnostic      // behind ":", and then follows at once: the message to the end of the line counts too
)

// word is what an identifier says.
type word struct {
	cue  cue
	need need
	then string
}

// entry is a list of words, space-separated, that say the same.
type entry struct {
	cue   cue
	need  need
	then  string
	words string
}

// words are the identifiers that count wherever they stand, if their need is met.
var words = index([]entry{
	{cueMeta, alone, "", `enable_if enable_if_t enable_if_c disable_if disable_if_t void_t conditional_t
		conjunction_v disjunction_v negation_v index_sequence make_index_sequence index_sequence_for
		integer_sequence make_integer_sequence common_type_t invoke_result_t remove_reference_t remove_cvref_t
		decay_t add_lvalue_reference_t underlying_type_t type_identity type_identity_t SFINAE`},
	{cueTrait, alone, "", `is_same is_same_v is_convertible is_convertible_v is_base_of is_base_of_v
		is_constructible is_constructible_v is_invocable is_invocable_v is_integral_v is_arithmetic_v
		is_floating_point_v is_enum_v is_class_v is_pointer_v is_reference_v is_void_v is_const_v
		is_trivially_copyable_v true_type false_type integral_constant bool_constant remove_reference remove_const
		remove_cv remove_cv_t add_const add_pointer type_traits is_detected same_as convertible_to derived_from`},
	{cueDeduction, alone, "", `declval`},
	{cueDeduction, call, "", `decltype`},
	{cueTemplateHead, angle, "", `template`},
	{cueSpecialised, special, "", `struct`},
	{cueConstraint, clause, "", `requires concept`},
	{cuePack, packed, "", `class typename sizeof`},
	{cueMember, scoped, "", `type value`},

	{cueRuntime, alone, "", `return new delete throw cout endl`},
	{cueRuntime, call, "", `if for while switch push_back printf`},
	{cueAssertion, call, "", `static_assert STATIC_ASSERT BOOST_STATIC_ASSERT BOOST_MPL_ASSERT BOOST_TEST
		ASSERT_SAME_TYPE assert`},

	{cueAtomic, alone, "", `memory_order_relaxed memory_order_acquire memory_order_release memory_order_acq_rel
		memory_order_seq_cst compare_exchange_weak compare_exchange_strong atomic_thread_fence`},
	{
		cueThread, alone, "",
		`pthread_create pthread_join pthread_t pthread_mutex_t pthread_mutex_lock pthread_cond_wait`},
	{cueAllocate, call, "", `malloc calloc realloc posix_memalign aligned_alloc`},

	{cueLinker, phrase, " reference to", `undefined`},
	{cueLinker, phrase, " definition of", `multiple`},
	{cueLinker, phrase, " returned 1 exit", `ld`},
	{cueLinker, phrase, ": error", `collect2`},
	{cueLinker, phrase, " find -l", `cannot`},
	{cueLinker, phrase, ":", `LNK2001 LNK2005 LNK2019 LNK1104 LNK1120`},
	{cueBuildName, alone, "", `CXXFLAGS CPPFLAGS LDFLAGS LDLIBS CMakeLists CMakeCache PKG_CONFIG_PATH`},
	{cueBuildStep, statement, "", `cmake_minimum_required cmake_policy cmake_parse_arguments cmake_dependent_option
		add_executable add_library add_subdirectory add_custom_command add_custom_target add_dependencies add_test
		add_compile_options add_compile_definitions add_definitions target_link_libraries target_link_options
		target_sources target_include_directories target_compile_definitions target_compile_options
		target_compile_features set_target_properties set_tests_properties set_property get_target_property
		get_filename_component find_package find_library find_path find_program include_directories link_directories
		link_libraries enable_testing enable_language configure_file execute_process try_compile mark_as_advanced
		check_cxx_source_compiles FetchContent_Declare FetchContent_MakeAvailable ExternalProject_Add CPMAddPackage
		endif elseif endforeach endfunction endmacro cc_library cc_binary cc_test cc_import http_archive
		git_repository declare_dependency AC_INIT AC_OUTPUT AC_PROG_CXX AC_CONFIG_FILES AM_INIT_AUTOMAKE
		PKG_CHECK_MODULES`},

	{cueRuntimeError, colon, " error: ", `runtime`},
	{cueDiagnostic, diagnostic, ": ", `error note`},
	{cueInstantiation, phrase, " from here", `required instantiated`},
	{cueInstantiation, phrase, " instantiation of ", `In in`},
	{cueInstantiation, phrase, " template ignored", `candidate`},
	{cueInstantiation, phrase, " not satisfied", `constraints`},
})

// standard are the names that count behind std:: alone.
var standard = index([]entry{
	{cueMeta, alone, "", `enable_if enable_if_t void_t conditional conditional_t index_sequence make_index_sequence
		integer_sequence conjunction_v disjunction_v negation_v common_type_t invoke_result_t remove_reference_t
		remove_cvref_t decay_t type_identity_t`},
	{cueTrait, alone, "", `is_same is_same_v is_convertible is_convertible_v is_base_of is_base_of_v
		is_constructible is_constructible_v is_invocable is_invocable_v is_integral_v is_arithmetic_v
		is_floating_point_v is_enum_v is_class_v is_pointer_v true_type false_type integral_constant bool_constant
		remove_reference remove_const remove_cv remove_cv_t add_const same_as convertible_to derived_from`},
	{cueDeduction, alone, "", `declval`},
	{cueAtomic, alone, "", `atomic atomic_flag atomic_ref atomic_bool atomic_int memory_order memory_order_relaxed
		memory_order_acquire memory_order_release memory_order_acq_rel memory_order_seq_cst atomic_thread_fence`},
	{cueThread, alone, "", `thread jthread this_thread mutex recursive_mutex shared_mutex timed_mutex lock_guard
		unique_lock scoped_lock shared_lock condition_variable condition_variable_any future promise async
		packaged_task latch barrier counting_semaphore binary_semaphore stop_token call_once once_flag`},
	{cueOwnership, alone, "", `unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this
		auto_ptr default_delete`},
	{cueAllocate, alone, "", `allocator allocator_traits pmr construct_at destroy_at uninitialized_copy bad_alloc
		align launder malloc`},
	{cueContainer, alone, "", `vector map unordered_map set unordered_set deque list multimap multiset forward_list
		array span priority_queue`},
	{cueAlgorithm, alone, "", `sort stable_sort partial_sort nth_element transform accumulate copy_if remove_if
		find_if lower_bound upper_bound equal_range binary_search partition rotate unique back_inserter
		next_permutation adjacent_find for_each generate iota inner_product partial_sum set_intersection merge
		all_of any_of none_of count_if`},
	{cueRange, alone, "", `ranges views`},
	{cueRuntime, alone, "", `cout endl`},
})

// topics are the parts of names that tell what a template is for, other than types.
var topics = index([]entry{{cueTopic, alone, "", `iterator iter range ranges view views alloc allocator atomic
		thread mutex lock queue socket buffer buffers executor execution process path file string vector list map
		set container ptr pointer memory graph vertex edge sort heap search regex chrono locale stream begin end
		node hash handler async future promise fiber time clock duration database policy reclaimer body message http
		error code copy key`}})

// lexicon is a set of words to look up identifiers in. Most identifiers are not in it, and lengths says so of most of
// those.
type lexicon struct {
	words   map[string]word
	lengths [256]uint64 // by first byte: bit n is set where a word has n bytes
}

func index(entries []entry) *lexicon {
	l := &lexicon{words: map[string]word{}}
	for _, e := range entries {
		for w := range strings.FieldsSeq(e.words) {
			l.words[w] = word{cue: e.cue, need: e.need, then: e.then}
			l.lengths[w[0]] |= 1 << len(w)
		}
	}
	return l
}

// find looks up a name, which is not empty.
func (l *lexicon) find(name []byte) (w word, known bool) {
	if l.lengths[name[0]]>>len(name)&1 == 0 {
		return w, false
	}
	w, known = l.words[string(name)]
	return w, known
}

// messages are the words of a diagnostic that tell its cause, the telling ones first.
var messages = [...]struct {
	cue   cue
	words string
}{
	{cueLinker, "undefined reference to"}, {cueLinker, "multiple definition of"}, {cueLinker, "undefined symbol"},
	{cueLinker, "cannot find -l"},
	{cueInstantiation, "template"}, {cueInstantiation, "instantiat"}, {cueInstantiation, "parameter pack"},
	{cueInstantiation, "deduc"},
	{cueInstantiation, "dependent"}, {cueInstantiation, "constraint"}, {cueInstantiation, "speciali"},
}

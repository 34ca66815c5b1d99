package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// claims says of every case of other systems which test shows it here, as "package#test", or why it differs. A claim
// that begins with "differs: " is a deviation on purpose; one that begins with "open: " is shown by no test yet.
var claims = map[string]map[string]string{
	"breakers.json": {
		"opens_on_nth_consecutive_failure":    "routing/fleet#TestBreakerGoesThroughItsStates",
		"half_open_after_timeout":             "routing/fleet#TestBreakerGoesThroughItsStates",
		"closes_after_m_successes":            "routing/fleet#TestBreakerGoesThroughItsStates",
		"success_resets_consecutive_failures": "routing/fleet#TestBreakerGoesThroughItsStates",
		"gobreaker_default_trips_above_five":  "routing/fleet#TestABreakerTripsWhenGobreakerAskedAboutEachRequestWould",
		"gobreaker_ratio_and_interval":        "routing/fleet#TestABreakerTripsWhenGobreakerAskedAboutEachRequestWould",
	},
	"dynamo_selector.json": {
		"doc_cost_example":                      "routing/plugins#TestDynamoKVPicksTheLowestCost",
		"zero_temperature_is_argmin":            "routing/plugins#TestSoftmaxDrawsInProportion",
		"ties_are_randomised_not_sticky":        "open: equals at temperature 0",
		"softmax_single_worker":                 "open: one candidate",
		"clamp_when_overlap_exceeds_prompt":     "routing/plugins#TestDynamoCostIsDynamosCost",
		"active_request_charge":                 "routing/plugins#TestDynamoCostIsDynamosCost",
		"overlap_credit_weight_flips_choice":    "routing/plugins#TestDynamoCostIsDynamosCost",
		"credit_decay_prefers_less_loaded_cold": "routing/plugins#TestDynamoCostIsDynamosCost",
		"scale_applies_after_credit":            "routing/plugins#TestDynamoCostIsDynamosCost",
		"overloaded_cache_holder_is_skipped":    "open: overload beside a cache",
	},
	"epp_scorers.json": {
		"queue_min_max":                            "routing/plugins#TestLoadScorersRateAsTheirTablesSay",
		"queue_equal_is_neutral_one":               "routing/plugins#TestLoadScorersRateAsTheirTablesSay",
		"kv_util_is_one_minus_usage":               "routing/plugins#TestLoadScorersRateAsTheirTablesSay",
		"active_requests_vs_max":                   "routing/plugins#TestLoadScorersRateAsTheirTablesSay",
		"load_aware_threshold":                     "routing/plugins#TestPreemptingPenaltyAndLoadAware",
		"token_load_linear":                        "routing/plugins#TestTokenLoadRatesTokensInFlight",
		"token_load_adds_uncached_of_this_request": "routing/plugins#TestTokenLoadRatesTokensInFlight",
		"prefix_ratio_with_length_bonus":           "routing/plugins#TestCacheAffinityMayRewardLongMatches",
		"adapter_affinity_tiers": "routing/plugins" +
			"#TestLoRAAffinityPrefersWhoHasTheAdapterThenWhoHasRoom",
		"max_score_pick_k":                "routing/plugins#TestMaxScoreRanksTheBest",
		"weighted_random_is_proportional": "routing/plugins#TestWeightedRandomIsProportional",
		"slo_headroom_tiers":              "routing/plugins#TestHeadroomTierKeepsWhoIsInTime",
		"saturation_is_mean_of_max_ratio": "open: saturation of a fleet",
		"slo_deadline_queue_order":        "open: order of deadlines",
		"longest_prefix_with_tiers":       "open: scores by tier in blocks",
	},
	"kv_pool_vllm.json": {
		"prefill_miss_allocates_ceil_blocks":         "kvpool#TestPromptTakesBlocksInOrderAndCachesTheFullOnes",
		"prefix_hit_while_in_use_bumps_refcount":     "kvpool#TestPrefixInUseIsShared",
		"free_order_after_two_sharers_finish":        "kvpool#TestEvictionTakesEmptyBlocksFirstThenTailsBeforeParents",
		"full_eviction_order_is_free_queue_order":    "kvpool#TestEvictionTakesEmptyBlocksFirstThenTailsBeforeParents",
		"decode_fills_partial_without_new_block":     "kvpool#TestDecodeFillsThePartialBlockBeforeItTakesAnother",
		"decode_crossing_boundary_hashes_full_block": "kvpool#TestDecodeFillsThePartialBlockBeforeItTakesAnother",
		"reused_block_drops_stale_hash":              "kvpool#TestReusedBlockForgetsItsOldContent",
		"hit_block_is_not_the_eviction_victim":       "kvpool#TestSharedBlockIsNotTheVictim",
		"caching_disabled_never_hits":                "differs: no switch; a salt of one's own never hits",
		"salt_separates_caches":                      "kvpool#TestRootsKeepSpecialistsAdaptersAndTenantsApart",
		"reset_refused_while_blocks_in_use":          "differs: no reset; an empty pool is a new pool",
		"duplicate_hash_entry_survives_one_eviction": "differs: a content is cached once, further copies stay private",
		"hash_chain_definition":                      "kvpool#TestEqualBlocksBehindDifferentPrefixesDiffer",
		"adapter_name_enters_hash":                   "kvpool#TestRootsKeepSpecialistsAdaptersAndTenantsApart",
		"free_queue_mid_removal_and_tail_append":     "open: the order of runs is tested, single blocks are not",
		"hit_rate_window_last_n_requests":            "differs: a pool has totals; windows are for their reader",
		"lookahead_reserves_blocks":                  "kvpool#TestLookaheadTakesWholeBlocks",
	},
	"openai_schema.json": {
		"chat_completion_required_fields": "open: the members of an answer",
		"chat_chunk_required_fields":      "open: the members of a chunk",
		"stream_usage_chunk":              "open: the chunk of usage",
		"usage_arithmetic":                "open: sums of usage",
		"error_envelope":                  "open: the members of an error",
		"models_list":                     "app#TestModelsListTheRouterTheSpecialistsAndTheirAdapters",
	},
	"scheduler_vllm.json": {
		"order_by_urgency":                       "scheduler/core#TestScripts",
		"arrival_breaks_ties":                    "scheduler/core#TestScripts",
		"mixed_urgency_and_arrival":              "scheduler/core#TestScripts",
		"waiting_queue_iterates_in_order":        "scheduler/core#TestScripts",
		"pressure_preempts_least_urgent_running": "scheduler/core#TestScripts",
		"no_preemption_when_room":                "scheduler/core#TestScripts",
		"fcfs_pressure_preempts_last_admitted":   "differs: no preemption while a batch is out, so no late token",
		"token_budget_with_and_without_chunking": "differs: prefill is always chunked; that half is in TestScripts",
		"skipped_index_after_preemption":         "scheduler/core#TestScripts",
	},
	"seeds.json": {
		"prefix_binary_search_example":      "routing/index#TestWorkedExampleTakesAboutTenLookups",
		"fibonacci_shard":                   "routing/index/reference#TestShardIsTheTopByteOfTheFibonacciProduct",
		"two_phase_shutdown":                "routing/index#TestShutdownIsARetireAndTwiceIsNoError",
		"device_aware_normalised_load":      "routing/plugins#TestDeviceAwareChoosesTheClassThenTheLeastLoaded",
		"admit_prompt_plus_one_decode_step": "scheduler/core#TestScripts",
		"speculative_admission_is_stricter": "scheduler/core#TestScripts",
	},
	"sglang_smg_policies.json": {
		"same_prefix_same_worker_when_balanced":  "open: a cache-aware policy of text",
		"imbalance_overrides_affinity":           "open: thresholds of imbalance",
		"overlap_best_match_wins":                "routing/plugins#TestCacheAffinityIsTheShareOfThePromptThatIsHeld",
		"short_or_unknown_prompt_has_no_overlap": "routing/plugins#TestCacheAffinityIsTheShareOfThePromptThatIsHeld",
		"bounded_load_factor":                    "routing/plugins#TestConsistentHashBoundsTheLoad",
		"prefix_hash_uses_only_first_n_tokens":   "routing/plugins#TestAHashKeyMayBeThePromptsPrefix",
	},
}

// Every case of other systems is claimed by name, no claim is of a case that is gone, and each named test exists.
// The files' numbers are not fed to those tests: each has its own.
func TestEveryCaseOfOtherSystemsIsClaimed(t *testing.T) {
	shared := cmp.Or(os.Getenv("OCTET_SHARED"), filepath.Join("..", "shared"))
	files, err := os.ReadDir(filepath.Join(shared, "data", "vectors"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no cases of other systems: set OCTET_SHARED to the folder that has data/vectors")
	}
	if err != nil {
		t.Fatal(err)
	}
	left := maps.Clone(claims)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(shared, "data", "vectors", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		claimedCases(t, f.Name(), text)
		delete(left, f.Name())
	}
	for name := range left {
		t.Errorf("claims of a file that is gone: %s", name)
	}
}

func claimedCases(t *testing.T, file string, text []byte) {
	var cases struct{ Vectors []struct{ Name string } }
	if err := json.Unmarshal(text, &cases); err != nil || len(cases.Vectors) == 0 {
		t.Fatalf("%s: %d cases, %v", file, len(cases.Vectors), err)
	}
	left := maps.Clone(claims[file])
	for _, c := range cases.Vectors {
		claim, ok := left[c.Name]
		delete(left, c.Name)
		switch room, test, named := strings.Cut(claim, "#"); {
		case !ok:
			t.Errorf("%s: no test claims %s", file, c.Name)
		case strings.HasPrefix(claim, "differs: "):
		case strings.HasPrefix(claim, "open: "):
			t.Logf("%s: %s: %s", file, c.Name, claim)
		case !named || !hasTest(t, room, test):
			t.Errorf("%s: %s is claimed by %q, which is no test", file, c.Name, claim)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("%s: %s is claimed and not there", file, name)
	}
}

func hasTest(t *testing.T, room, test string) bool {
	sources, err := filepath.Glob(filepath.Join(room, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(sources, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(text), "\nfunc "+test+"(")
	})
}

package plugins_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"octet/internal/vectors"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/index/runs"
	"octet/routing/plugins"
)

// The cases of the endpoint picker's scorers, filters and pickers with their own numbers.
func TestScorersPlayTheEndpointPickersCases(t *testing.T) {
	vectors.Run(t, "epp_scorers.json", vectors.Plays{
		"queue_min_max":                            playQueue,
		"queue_equal_is_neutral_one":               playEqualQueues,
		"kv_util_is_one_minus_usage":               playUsage,
		"load_aware_threshold":                     playLoadAware,
		"token_load_linear":                        playTokenLoad,
		"token_load_adds_uncached_of_this_request": playTokenLoadOfRequest,
		"prefix_ratio_with_length_bonus":           playLengthBonus,
		"active_requests_vs_max":                   playActive,
		"adapter_affinity_tiers":                   playAdapters,
		"max_score_pick_k":                         playMaxScore,
		"weighted_random_is_proportional":          playWeightedRandom,
		"slo_headroom_tiers":                       playHeadroom,
		"longest_prefix_with_tiers":                playTiers,
	})
}

// loaded returns what a scorer says of replicas with such loads.
func loaded(t *testing.T, scorer string, params map[string]any, loads ...fleet.Load) []float64 {
	t.Helper()
	w := newWorld(t, len(loads))
	for h, l := range loads {
		w.load(index.HostID(h), l)
	}
	return w.rated(scorer, params, given{})
}

func waiting(counts []int) (loads []fleet.Load) {
	for _, n := range counts {
		loads = append(loads, fleet.Load{Waiting: n})
	}
	return loads
}

func playQueue(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Waiting []int }
	c.Given(&given)
	return vectors.Got{"scores": loaded(t, "queue-scorer", nil, waiting(given.Waiting)...)}
}

func playEqualQueues(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Waiting [][]int }
	c.Given(&given)
	var scores [][]float64
	for _, counts := range given.Waiting {
		scores = append(scores, loaded(t, "queue-scorer", nil, waiting(counts)...))
	}
	return vectors.Got{"scores": scores}
}

func playUsage(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Usage []float64 }
	c.Given(&given)
	var loads []fleet.Load
	for _, usage := range given.Usage {
		loads = append(loads, fleet.Load{KVUsage: usage})
	}
	return vectors.Got{"scores": loaded(t, "kv-cache-utilization-scorer", nil, loads...)}
}

func playLoadAware(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Threshold int
		Waiting   []int
	}
	c.Given(&given)
	params := map[string]any{"threshold": given.Threshold}
	return vectors.Got{"scores": loaded(t, "load-aware-scorer", params, waiting(given.Waiting)...)}
}

// tokenLoads is a case of token-load-scorer.
type tokenLoads struct {
	Threshold int   `json:"threshold_tokens"`
	InFlight  []int `json:"in_flight"`
	Uncached  int   `json:"uncached_of_request"`
}

func (g tokenLoads) scores(t *testing.T) []float64 {
	w := newWorld(t, len(g.InFlight))
	for h, n := range g.InFlight {
		w.tokens(index.HostID(h), n)
	}
	return w.rated("token-load-scorer", map[string]any{"threshold_tokens": g.Threshold}, given{tokens: g.Uncached},
		inFlightLoad()...)
}

func playTokenLoad(t *testing.T, c *vectors.Case) vectors.Got {
	var given tokenLoads
	c.Given(&given)
	return vectors.Got{"scores": given.scores(t)}
}

// A replica's tokens in flight are this gateway's own count, so they are never missing: of what is not known the
// request's are left.
func playTokenLoadOfRequest(t *testing.T, c *vectors.Case) vectors.Got {
	var given tokenLoads
	c.Given(&given)
	unknown := tokenLoads{Threshold: given.Threshold, InFlight: []int{0, 0}}
	return vectors.Got{"scores": given.scores(t), "missing_data": unknown.scores(t)[0]}
}

func playLengthBonus(t *testing.T, c *vectors.Case) vectors.Got {
	var of struct {
		Weight    float64
		Scale     int      `json:"scale_tokens"`
		BlockSize int      `json:"block_size"`
		Matches   [][2]int `json:"match_total"`
	}
	c.Given(&of)
	var tolerance float64
	c.Input("tol", &tolerance)
	c.Tolerance(tolerance)
	w := newWorld(t, 0)
	for h := range index.HostID(2) { // one alone is not scored
		w.put(fleet.Spec{Host: h, HasEvents: true, BlockSize: of.BlockSize})
	}
	var scores []float64
	for _, m := range of.Matches {
		held := given{depths: []uint16{uint16(m[0]), 0}, blocks: m[1]}
		params := map[string]any{"length_weight": of.Weight, "length_scale": of.Scale}
		scores = append(scores, w.rated("prefix-cache-scorer", params, held)[0])
	}
	return vectors.Got{"scores": scores}
}

func playActive(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Active []int }
	c.Given(&given)
	var second []*int
	c.Input("second_case/active", &second)
	loads := func(counts []*int) (loads []fleet.Load) {
		for _, n := range counts {
			if n == nil {
				n = new(int)
			}
			loads = append(loads, fleet.Load{InFlight: *n})
		}
		return loads
	}
	var first []*int
	for _, n := range given.Active {
		first = append(first, &n)
	}
	none := loaded(t, "active-request-scorer", nil, fleet.Load{}, fleet.Load{})
	return vectors.Got{
		"scores":         loaded(t, "active-request-scorer", nil, loads(first)...),
		"second_case":    vectors.Got{"scores": loaded(t, "active-request-scorer", nil, loads(second)...)},
		"no_data_at_all": min(none[0], none[1]),
	}
}

func playAdapters(t *testing.T, c *vectors.Case) vectors.Got {
	var of struct {
		Want string
		Pods []struct {
			Active, Waiting []string
			Max             int
		}
	}
	c.Given(&of)
	c.Prose("meaning")
	w := newWorld(t, len(of.Pods))
	for h, pod := range of.Pods {
		said := &fleet.Reported{HasAdapters: true, MaxAdapters: pod.Max, WaitingAdapters: pod.Waiting}
		for _, adapter := range pod.Active { // "m2 x4": four requests with m2
			name, _, _ := strings.Cut(adapter, " ")
			said.RunningAdapters = append(said.RunningAdapters, name)
		}
		w.replica(index.HostID(h)).Reports(said)
	}
	scores := w.rated("lora-affinity-scorer", nil, given{facts: routing.Facts{Adapter: of.Want}})
	return vectors.Got{"scores": scores}
}

func playMaxScore(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Scores map[string]float64 }
	c.Given(&given)
	names := slices.Sorted(maps.Keys(given.Scores))
	var scores []float64
	for _, name := range names {
		scores = append(scores, given.Scores[name]/100) // scores are within [0,1] here
	}
	got := vectors.Got{}
	for _, n := range c.Numbers(3) {
		picked := []string{}
		for _, h := range ranks(t, "max-score-picker", map[string]any{"keep": n}, scores) {
			picked = append(picked, names[h])
		}
		got[fmt.Sprintf("k%g", n)] = picked
	}
	equals := ranks(t, "max-score-picker", nil, []float64{0.5, 1, 0.5, 1})
	slices.Sort(equals[:2])
	slices.Sort(equals[2:])
	got["ties"] = vectors.Rule(slices.Equal(equals, []index.HostID{1, 3, 0, 2}))
	return got
}

func playWeightedRandom(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Scores map[string]float64 }
	c.Given(&given)
	draws, found := strings.CutSuffix(strings.ReplaceAll(c.When, ",", ""), " draws")
	if !found {
		t.Fatalf("%q are no draws", c.When)
	}
	n := int(vectors.Numbers(draws)[0])
	scores := []float64{given.Scores["a"] / 100, given.Scores["b"] / 100, 0}
	shares := drawn(t, "weighted-random-picker", map[string]any{"seed": 2}, scores, n)
	return vectors.Got{"share_a": vectors.Within(shares[0]), "zero_score": vectors.Rule(shares[2] == 0)}
}

// The pods' numbers are milliseconds by which they are early, for the first token and for each after it.
func playHeadroom(t *testing.T, c *vectors.Case) vectors.Got {
	var of struct {
		Pods    map[string][2]float64
		Epsilon float64
	}
	c.Given(&of)
	names := slices.Sorted(maps.Keys(of.Pods))
	kept := func(explore float64, forecasts ...plugins.Forecast) []string {
		wanted := routing.Facts{TTFT: time.Second, Total: 100 * time.Second, MaxTokens: 100}
		w := newWorld(t, len(forecasts))
		left := w.left("slo-headroom-tier-filter", map[string]any{"explore": explore},
			given{facts: wanted, forecasts: forecasts})
		kept := []string{}
		for h := range left.All() {
			kept = append(kept, names[h])
		}
		slices.Sort(kept)
		return kept
	}
	var all, late []plugins.Forecast
	for _, name := range names {
		pod := of.Pods[name]
		all = append(all, plugins.Forecast{TTFT: 1 - pod[0]/1000, ITL: 1 - pod[1]/1000, Known: true})
		late = append(late, plugins.Forecast{TTFT: 2, ITL: 2, Known: true})
	}
	unknown := slices.Clone(all)
	unknown[slices.Index(names, "pos1")] = plugins.Forecast{}
	only := slices.DeleteFunc(slices.Clone(all), func(f plugins.Forecast) bool { return f.TTFT > 1 })
	return vectors.Got{
		"kept": kept(of.Epsilon, all...), "epsilon_1": kept(1, all...),
		"only_one_tier_present": vectors.Rule(len(kept(0, late...)) == len(late) && len(kept(1, only...)) == len(only)),
		"no_prediction":         vectors.Rule(slices.Equal(kept(of.Epsilon, unknown...), []string{"pos2"})),
	}
}

// By the index that serves. A score is a share of the prompt here: times its blocks, it is the case's.
func playTiers(t *testing.T, c *vectors.Case) vectors.Got {
	var of struct {
		Keys   []int
		Weight struct{ GPU, CPU float64 } `json:"tier_weight"`
		A, B   struct{ GPU, CPU []int }
	}
	c.Given(&of)
	w := newWorld(t, 3)
	text := strings.Repeat("0123456789abcdef", len(of.Keys))
	chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
	x, err := runs.New(index.Config{Hosts: 3})
	if err != nil {
		t.Fatal(err)
	}
	hold := func(h index.HostID, gpu, cpu []int) {
		b := index.Batch{Host: h, Epoch: 1, Seq: 1}
		if err := x.Admit(h); err != nil {
			t.Fatal(err)
		}
		for tier, keys := range map[index.Tier][]int{index.GPU: gpu, index.CPU: cpu} {
			for _, key := range keys {
				i := slices.Index(of.Keys, key)
				op := index.Op{Kind: index.Store, Tier: tier, Blocks: chain[i : i+1], RootKnown: i == 0}
				if i > 0 {
					op.HasParent, op.Parent = true, chain[i-1]
				}
				b.Ops = append(b.Ops, op)
			}
		}
		slices.SortStableFunc(b.Ops, func(a, b index.Op) int {
			return slices.Index(chain, a.Blocks[0]) - slices.Index(chain, b.Blocks[0])
		})
		if got := x.Apply(b); got != index.Applied {
			t.Fatal(got)
		}
	}
	hold(0, of.A.GPU, of.A.CPU)
	hold(1, of.B.GPU, of.B.CPU)
	third := of.A.GPU[2:3]
	hold(2, slices.Delete(slices.Clone(of.A.GPU), 2, 3), third)
	w.deps.Index, w.deps.Tiers = x, x
	scores := w.rated("precise-prefix-cache-scorer", map[string]any{"cpu_weight": of.Weight.CPU / of.Weight.GPU},
		given{facts: prompt(text)}, routing.PluginSpec{Name: "tokenize"}, routing.PluginSpec{Name: "block-hashes"},
		routing.PluginSpec{Name: "prefix-depths"}, routing.PluginSpec{Name: "tier-depths"})
	n := float64(len(of.Keys)) * of.Weight.GPU
	return vectors.Got{"A": scores[0] * n, "B": scores[1] * n,
		fmt.Sprintf("variant A has %d only on cpu", third[0]): scores[2] * n, "rule": vectors.Rule(scores[1] == 0)}
}

package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"octet/internal/vectors"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// The cases of Dynamo's selector with their own numbers.
func TestDynamoCostPlaysDynamosCases(t *testing.T) {
	vectors.Run(t, "dynamo_selector.json", vectors.Plays{
		"doc_cost_example":                      playDocumentedCosts,
		"zero_temperature_is_argmin":            playArgmin,
		"ties_are_randomised_not_sticky":        playTies,
		"softmax_single_worker":                 playSingleWorker,
		"clamp_when_overlap_exceeds_prompt":     playClamp,
		"active_request_charge":                 playActiveRequests,
		"overlap_credit_weight_flips_choice":    playCredit,
		"credit_decay_prefers_less_loaded_cold": playDecay,
		"scale_applies_after_credit":            playScale,
		"overloaded_cache_holder_is_skipped":    playOverloaded,
	})
}

// dynamoCost returns the cost of dynamo-cost with parameters, which must be known to it.
func dynamoCost(t *testing.T, params map[string]any) (cost func(plugins.DynamoWorker) float64) {
	t.Helper()
	w := newWorld(t, 1)
	reg := plugins.Registry(w.deps)
	reg["dynamo-cost"] = func(p *routing.Params) (made routing.Plugin) {
		made, cost = plugins.DynamoCost(p)
		return made
	}
	spec, _ := plugins.Preset("dynamo-kv")
	spec.Score[0].Params = params
	if _, err := routing.Build(plugins.Complete(spec, false), reg); err != nil {
		t.Fatal(err)
	}
	return cost
}

// drawOf returns the picks of n draws by softmax among replicas of such costs.
func drawOf(t *testing.T, costs []float64, params map[string]any, n int) (picked []int) {
	t.Helper()
	scores := slices.Clone(costs)
	plugins.LowestFirst(scores)
	w := newWorld(t, len(costs))
	p := w.scoring("softmax", params, scores)
	for range n {
		picked = append(picked, int(w.pick(p, routing.Facts{})[0]))
	}
	return picked
}

// cheapest returns which of costs softmax picks at temperature 0.
func cheapest(t *testing.T, costs ...float64) int {
	return drawOf(t, costs, map[string]any{"temperature": 0}, 1)[0]
}

func playDocumentedCosts(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Weight  float64
		Workers []struct {
			Prefill float64 `json:"prefill_blocks"`
			Decode  float64 `json:"decode_blocks"`
		}
	}
	c.Given(&given)
	cost := dynamoCost(t, map[string]any{"overlap_score_weight": given.Weight})
	var costs []float64
	for _, w := range given.Workers {
		costs = append(costs, cost(plugins.DynamoWorker{Prompt: w.Prefill, Decode: w.Decode}))
	}
	return vectors.Got{"costs": costs, "picked": cheapest(t, costs...)}
}

func playArgmin(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Logits map[string]float64 }
	c.Given(&given)
	var negative []float64
	c.Input("negatives/logits", &negative)
	names := slices.Sorted(maps.Keys(given.Logits))
	var costs []float64
	for _, name := range names {
		costs = append(costs, given.Logits[name])
	}
	at := cheapest(t, costs...)
	return vectors.Got{"picked": names[at], "logit": costs[at],
		"negatives": vectors.Got{"picked_logit": negative[cheapest(t, negative...)]}}
}

func playTies(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Logits []float64
		T      float64
		Draws  int
	}
	c.Given(&given)
	params := map[string]any{"temperature": given.T, "seed": 1}
	picked := drawOf(t, given.Logits, params, given.Draws)
	again := drawOf(t, given.Logits, params, given.Draws)
	c.Differs("distinct_workers_at_least", "at temperature 0 equals go to the lowest slot: one request over one fleet "+
		"has one answer, which a receipt explains and a replay repeats; the next request sees the last one in flight")
	same := slices.Equal(picked, again)
	slices.Sort(picked)
	return vectors.Got{"seeded": vectors.Rule(same),
		"distinct_workers_at_least": vectors.AtLeast(len(slices.Compact(picked)))}
}

func playSingleWorker(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Logits []float64
		T      []float64
	}
	c.Given(&given)
	picks := map[int]bool{}
	for _, temperature := range given.T {
		for _, at := range drawOf(t, given.Logits, map[string]any{"temperature": temperature}, 20) {
			picks[at] = true
		}
	}
	all := slices.Collect(maps.Keys(picks))
	if len(all) != 1 {
		t.Fatalf("picked %v", all)
	}
	return vectors.Got{"picked": all[0], "logit": given.Logits[all[0]]}
}

func playClamp(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Prompt  float64 `json:"isl"`
		Block   float64
		Cached  float64 `json:"cached_tokens"`
		Device  float64 `json:"device_blocks"`
		Backlog float64 `json:"active_prefill_tokens"`
		Decode  float64 `json:"decode_blocks"`
		Scale   float64 `json:"prefill_scale"`
		Credit  float64 `json:"overlap_credit"`
	}
	c.Given(&given)
	if given.Cached != given.Device*given.Block {
		t.Errorf("%g tokens in %g blocks", given.Cached, given.Device)
	}
	w := plugins.DynamoWorker{Prompt: given.Prompt / given.Block, Held: given.Device,
		Backlog: given.Backlog / given.Block, Decode: given.Decode}
	params := map[string]any{"overlap_score_weight": given.Scale, "overlap_credit": given.Credit}
	tracked := dynamoCost(t, params)(w)
	params["track_prefill"] = false
	return vectors.Got{"logit": tracked, "prefill_not_tracked": dynamoCost(t, params)(w)}
}

func playActiveRequests(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Decode   float64 `json:"decode_blocks"`
		Requests float64 `json:"active_requests"`
		Prompt   float64 `json:"isl"`
	}
	c.Given(&given)
	weights := c.Numbers(2)
	got := vectors.Got{}
	for _, weight := range weights {
		cost := dynamoCost(t, map[string]any{"active_request_weight": weight})
		got[fmt.Sprintf("w%g", weight)] = cost(plugins.DynamoWorker{Prompt: given.Prompt, Decode: given.Decode,
			Requests: given.Requests})
	}
	return got
}

// warmOrCold is a replica that has some of the prompt, and one that has less to do.
type warmOrCold struct {
	Prompt float64 `json:"isl"`
	Block  float64
	Warm   warmth
	Cold   warmth
}

type warmth struct {
	Device  float64 `json:"device_blocks"`
	Decode  float64 `json:"decode_blocks"`
	Backlog float64 `json:"active_prefill_tokens"`
}

// costs returns what either costs.
func (g warmOrCold) costs(t *testing.T, params map[string]any) (warm, cold float64) {
	cost := dynamoCost(t, params)
	of := func(w warmth) float64 {
		return cost(plugins.DynamoWorker{Prompt: g.Prompt / g.Block, Held: w.Device, Decode: w.Decode,
			Backlog: w.Backlog / g.Block, Excess: (w.Backlog - min(g.Warm.Backlog, g.Cold.Backlog)) / g.Block})
	}
	return of(g.Warm), of(g.Cold)
}

func warmer(t *testing.T, warm, cold float64) string {
	return []string{"warm", "cold"}[cheapest(t, warm, cold)]
}

func playCredit(t *testing.T, c *vectors.Case) vectors.Got {
	var given warmOrCold
	c.Given(&given)
	got := vectors.Got{}
	for _, credit := range c.Numbers(2) {
		warm, cold := given.costs(t, map[string]any{"overlap_credit": credit})
		got[fmt.Sprintf("credit_%.1f", credit)] = vectors.Says{warmer(t, warm, cold), warm, cold}
	}
	return got
}

func playDecay(t *testing.T, c *vectors.Case) vectors.Got {
	var given warmOrCold
	c.Given(&given)
	warm, cold := given.costs(t, map[string]any{"overlap_decay": 0})
	got := vectors.Got{"decay_0": vectors.Says{warmer(t, warm, cold), warm, cold}}
	warm, cold = given.costs(t, map[string]any{"overlap_decay": 1})
	whole := (given.Prompt + given.Warm.Backlog) / given.Block
	credit := whole - warm
	device := given.Warm.Device
	got["decay_1"] = vectors.Says{warmer(t, warm, cold), device, device / credit, credit, warm, cold}
	return got
}

func playScale(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Prompt float64 `json:"isl"`
		Block  float64
		Scale  float64
		W0, W1 warmth
	}
	c.Given(&given)
	w0, w1 := warmOrCold{given.Prompt, given.Block, given.W0, given.W1}.costs(t,
		map[string]any{"overlap_score_weight": given.Scale})
	return vectors.Got{"w0": w0, "w1": w1, "picked": fmt.Sprintf("w%d", cheapest(t, w0, w1))}
}

// The whole preset, with a filter by how full a replica is.
func playOverloaded(t *testing.T, c *vectors.Case) vectors.Got {
	type replica struct {
		Blocks     int `json:"overlap_blocks"`
		Overloaded bool
	}
	var given struct{ W0, W1 replica }
	c.Given(&given)
	w := newWorld(t, 2)
	const text = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
	overload := func(h index.HostID, so bool) {
		w.load(h, fleet.Load{KVUsage: map[bool]float64{false: 0.2, true: 0.99}[so]})
	}
	full := routing.PluginSpec{Name: "utilization"}
	spec := mustPreset(t, "dynamo-kv")
	spec.Filter = append(spec.Filter, full)
	kv := w.build(spec)
	w.holds[0], w.holds[1] = chain[:given.W0.Blocks], chain[:given.W1.Blocks]
	if holder := w.pick(kv, prompt(text))[0]; holder != 0 {
		t.Errorf("with room at the holder, %d is picked", holder)
	}
	overload(0, given.W0.Overloaded)
	overload(1, given.W1.Overloaded)
	got := vectors.Got{"picked": fmt.Sprintf("w%d", w.pick(kv, prompt(text))[0])}

	spec = mustPreset(t, "direct")
	spec.Filter = append(spec.Filter, full)
	pinned := prompt(text)
	pinned.Replica = "debug-0"
	_, err := w.build(spec).Select(context.Background(), w.request(pinned))
	got["pinned_overloaded"] = vectors.Rule(errors.Is(err, routing.ErrUnknownReplica))

	overload(0, true)
	overload(1, true)
	_, err = kv.Select(context.Background(), w.request(prompt(text)))
	var none *routing.NoCandidateError
	got["all_overloaded"] = vectors.Rule(errors.As(err, &none) && none.Verdict == routing.Overloaded)
	return got
}

package plugins_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// of returns the names of the registry's plugins, aliases left out, that are a P.
func of[P any](reg routing.Registry) (names []string) {
	for name, factory := range reg {
		p := factory(&routing.Params{})
		if _, ok := p.(P); ok && p.Name() == name {
			names = append(names, name)
		}
	}
	return names
}

// randomWorld has up to 20 replicas with loads that no engine should report, and twins among them.
func randomWorld(t *testing.T, draw *rand.Rand) (*world, given) {
	w := newWorld(t, 0)
	w.deps.Guesses, w.deps.Tiers = guesses(t), noTiers{}
	n := 2 + draw.IntN(19)
	g := given{blocks: draw.IntN(8), tokens: 1 + draw.IntN(40), levels: 3, facts: routing.Facts{
		Tenant: "acme", Session: fmt.Sprint(draw.IntN(3)), Now: time.Unix(1, 0), MaxTokens: draw.IntN(3),
		TTFT: time.Duration(draw.IntN(3)-1) * time.Second, Total: time.Duration(draw.IntN(3)-1) * time.Second,
	}}
	for range draw.IntN(2) {
		g.facts.Adapter = "a"
	}
	for h := range index.HostID(n) {
		w.put(fleet.Spec{Host: h, HasEvents: true,
			Labels: map[string]string{"device": []string{"cpu", "gpu", "tpu"}[draw.IntN(3)]}})
		w.load(h, fleet.Load{InFlight: draw.IntN(4), Waiting: draw.IntN(1 << 20), Running: draw.IntN(3),
			Preempting: draw.IntN(2), KVUsage: draw.Float64()*3 - 1})
		w.busy(h, draw.IntN(5), draw.IntN(50))
		w.replica(h).Reports(&fleet.Reported{HasAdapters: draw.IntN(2) == 0, MaxAdapters: draw.IntN(2),
			RunningAdapters: []string{"a", "b"}[:draw.IntN(3)], WaitingAdapters: []string{"a"}[:draw.IntN(2)]})
		g.depths = append(g.depths, uint16(draw.IntN(g.blocks+1)))
		g.distances = append(g.distances, uint8(draw.IntN(4)))
		g.forecasts = append(g.forecasts,
			plugins.Forecast{TTFT: draw.Float64() * 10, ITL: draw.Float64(), Known: draw.IntN(3) > 0})
	}
	return w, g
}

// given puts Depths only with a chain; a profile that takes them as given gets them always.
func preparers(name string, reg routing.Registry) (refs []routing.PluginSpec) {
	writers := map[string]string{"loads": "in-flight-load", "session_key": "session-key",
		"hash_key": "consistent-hash-key", "tenant": "tenant"}
	need := map[string]bool{}
	for _, s := range reg[name](&routing.Params{}).Reads() {
		if writer := writers[s.Name()]; writer != "" {
			need[writer] = true
		}
	}
	if need["consistent-hash-key"] {
		need["session-key"] = true
	}
	for _, ref := range []string{"session-key", "consistent-hash-key", "in-flight-load", "tenant"} {
		if need[ref] {
			refs = append(refs, routing.PluginSpec{Name: ref})
		}
	}
	return refs
}

// GAIE-09, MOD3-08: one score for each candidate, in [0,1], whatever the world looks like.
func TestEveryScorerStaysInRange(t *testing.T) {
	draw := rand.New(rand.NewPCG(21, 22))
	for range 60 {
		w, g := randomWorld(t, draw)
		reg := plugins.Registry(w.deps)
		for _, name := range of[routing.Scorer](reg) {
			for _, s := range w.rated(name, nil, g, preparers(name, reg)...) { // fails when anything had to be clamped
				if math.IsNaN(s) {
					t.Fatalf("%s: not a number", name)
				}
			}
		}
	}
}

// A filter only ever removes, and does not change when asked twice.
func TestEveryFilterOnlyNarrows(t *testing.T) {
	draw := rand.New(rand.NewPCG(23, 24))
	params := map[string]map[string]any{"label-selector": {"matchLabels": map[string]any{"device": "gpu"}},
		"prefix-cache-affinity": {"explore": 0}, "slo-headroom-tier": {"explore": 0}}
	for range 60 {
		w, g := randomWorld(t, draw)
		reg := plugins.Registry(w.deps)
		all := w.fleet.Snapshot("debug").Hosts
		for _, name := range of[routing.Filter](reg) {
			left := w.left(name, params[name], g, preparers(name, reg)...)
			if !left.AndNot(all).Empty() || left != w.left(name, params[name], g, preparers(name, reg)...) {
				t.Fatalf("%s left %v of %v", name, left, all)
			}
		}
	}
}

// MOD3-15: a ranking holds each candidate at most once, keeps its bound, and a dry one equals the next real one.
func TestEveryPickerRanksCandidatesOnce(t *testing.T) {
	draw := rand.New(rand.NewPCG(25, 26))
	for range 60 {
		w, g := randomWorld(t, draw)
		reg := plugins.Registry(w.deps)
		g.facts.Replica = "debug-1"
		for _, name := range of[routing.Picker](reg) {
			keep := 1 + draw.IntN(24)
			ref := routing.PluginSpec{Name: name, Params: map[string]any{"keep": keep}}
			if name == "direct" {
				ref.Params = nil
			}
			p, err := routing.Build(routing.ProfileSpec{Name: "p", Prepare: preparers(name, reg), Pick: ref,
				Given: []routing.AnySlot{plugins.Fleet},
				Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "kv-utilization"}, Weight: 1}}},
				reg)
			if err != nil {
				t.Fatal(err)
			}
			var last string
			for _, dry := range []bool{true, false} {
				g.facts.Dry = dry
				d, err := p.Select(context.Background(), w.request(g.facts))
				if err != nil || len(d.Ranked) > keep {
					t.Fatalf("%s, keep %d: %v, %v", name, keep, d.Ranked, err)
				}
				var once index.HostBitmap
				for _, s := range d.Ranked {
					if once.Has(s.Host) || !d.Candidates.Has(s.Host) {
						t.Fatalf("%s ranked %v", name, d.Ranked)
					}
					once.Set(s.Host)
				}
				if last != "" && last != fmt.Sprint(d.Ranked) {
					t.Fatalf("%s: dry %s, then %v", name, last, d.Ranked)
				}
				last = fmt.Sprint(d.Ranked)
			}
		}
	}
}

// With the prompt's hashes given, a decision of any preset allocates nothing once its buffers have grown.
func TestDecisionsDoNotAllocate(t *testing.T) {
	w := newWorld(t, 64)
	chain := w.deps.Hasher.Chain(nil, 1, make([]uint32, 128), 4)
	w.holds[3], w.holds[9] = chain, chain[:5]
	snapshot := w.fleet.Snapshot("debug")
	for _, name := range plugins.Presets() {
		spec := mustPreset(t, name)
		spec.Given = []routing.AnySlot{plugins.Fleet}
		given := false
		for len(spec.Prepare) > 0 && (spec.Prepare[0].Name == "tokenize" || spec.Prepare[0].Name == "block-hashes") {
			spec.Prepare, given = spec.Prepare[1:], true
		}
		if given {
			spec.Given = append(spec.Given, plugins.BlockHashes, plugins.PromptTokens)
		}
		p, err := routing.Build(spec, plugins.Registry(w.deps))
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		one := func() {
			c := routing.Acquire(routing.Facts{Specialist: "debug", Tenant: "acme", Session: "s", Replica: "debug-9"})
			plugins.Fleet.Put(c, snapshot)
			plugins.BlockHashes.Put(c, chain)
			plugins.PromptTokens.Put(c, 130)
			c.Candidates(snapshot.Hosts)
			if _, err := p.Select(ctx, c); err != nil {
				t.Fatal(err)
			}
			c.Release()
		}
		least := math.Inf(1) // under the race detector the pool of Contexts loses some at random
		for range 50 {
			least = min(least, testing.AllocsPerRun(1, one))
		}
		if least > 0 {
			t.Errorf("%s allocates %g times", name, least)
		}
	}
}

package plugins_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// near reports whether got is want to 1e-9 everywhere.
func near(got, want []float64) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			return false
		}
	}
	return true
}

// The tables marked EPP are the expectations of the endpoint picker's own tests.
//
// GAIE-17, GAIE-21, GAIE-22, MEGA-20, DYN-14
func TestLoadScorersRateAsTheirTablesSay(t *testing.T) {
	waiting := func(n int) fleet.Load { return fleet.Load{Waiting: n} }
	running := func(n int) fleet.Load { return fleet.Load{Running: n} }
	used := func(u float64) fleet.Load { return fleet.Load{KVUsage: u} }
	for _, test := range []struct {
		about, scorer string
		params        map[string]any
		loads         []fleet.Load
		want          []float64
	}{
		{"EPP min-max", "queue-depth", nil, []fleet.Load{waiting(10), waiting(5), waiting(0)}, []float64{0, 0.5, 1}},
		{"EPP equal", "queue-scorer", nil, []fleet.Load{waiting(5), waiting(5)}, []float64{1, 1}},
		{"EPP empty", "queue-depth-scorer", nil, []fleet.Load{waiting(0), waiting(0)}, []float64{1, 1}},
		{"min-max", "running-requests", nil, []fleet.Load{running(8), running(2), running(4)}, []float64{0, 1, 2. / 3}},
		{"only running counts", "running-requests-size-scorer", nil, []fleet.Load{waiting(8), waiting(2)},
			[]float64{1, 1}},
		{"EPP 1 - usage", "kv-utilization", nil, []fleet.Load{used(0.8), used(0.5), used(0), used(1), used(0.6)},
			[]float64{0.2, 0.5, 1, 0, 0.4}},
		{"an engine that overstates", "kv-cache-utilization-scorer", nil, []fleet.Load{used(1.02), used(-0.1)},
			[]float64{0, 1}},
		{"EPP active against the most", "active-request-scorer", nil, []fleet.Load{{InFlight: 3}, {}, {InFlight: 6}},
			[]float64{0.5, 1, 0}},
		{"EPP without a record", "least-load", nil, []fleet.Load{{InFlight: 4}, {}, {InFlight: 1}},
			[]float64{0, 1, 0.75}},
		{"no load at all", "least-load", nil, []fleet.Load{{}, {}}, []float64{1, 1}},
		{"in flight and waiting", "least-load", nil, []fleet.Load{{InFlight: 1, Waiting: 3}, {InFlight: 2}},
			[]float64{0, 0.5}},
		{"preempting settles a tie", "least-load", nil, []fleet.Load{{InFlight: 2, Preempting: 3}, {InFlight: 2}},
			[]float64{0, 0.2}},
		{"preempting is less than a request", "least-load", nil,
			[]fleet.Load{{InFlight: 2, Preempting: 3}, {InFlight: 3}}, []float64{1. / 6, 0}},
		{"only preempting", "least-load", nil, []fleet.Load{{Preempting: 1}, {}}, []float64{0.5, 1}},
		{"a heavier penalty", "least-load", map[string]any{"preempting_penalty": 2},
			[]fleet.Load{{InFlight: 2, Preempting: 1}, {InFlight: 3}}, []float64{0, 0.25}},
	} {
		t.Run(test.scorer+" "+test.about, func(t *testing.T) {
			w := newWorld(t, len(test.loads))
			for h, l := range test.loads {
				w.load(index.HostID(h), l)
			}
			if got := w.scores(test.scorer, test.params, routing.Facts{}); !near(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// GAIE-20: longer match higher. Deviation from the EPP's newer prefix scorer: no bonus for absolute length; the share
// alone.
//
//nolint:lll // raw text that cannot be broken
func TestCacheAffinityIsTheShareOfThePromptThatIsHeld(t *testing.T) {
	w := newWorld(t, 5)
	text := "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd" // 4 chunks of 4 tokens of 4 bytes
	chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
	w.holds[0], w.holds[1], w.holds[3], w.holds[4] = chain[:2], chain, chain[1:], chain
	w.stale = index.HostSet(4)
	prepare := []string{"tokenize", "block-hashes", "prefix-depths"}
	if got := w.scores("cache-affinity", nil, prompt(text), prepare...); !near(got, []float64{0.5, 1, 0, 0, 0}) {
		t.Errorf("got %v", got)
	}
	if got := w.scores("precise-prefix-cache-scorer", nil, prompt("short"), prepare...); !near(got, []float64{0, 0, 0, 0, 0}) {
		t.Errorf("a prompt without a full block: %v", got)
	}
}

// MOD3-21
func TestRoundRobinScorerPrefersTheNextInRotation(t *testing.T) {
	w := newWorld(t, 4)
	p := w.build(routing.ProfileSpec{Name: "p",
		Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "round-robin"}, Weight: 1}},
		Pick:  routing.PluginSpec{Name: "max-score"}})
	for i := range index.HostID(9) {
		got := w.pick(p, routing.Facts{})
		if want := []index.HostID{i % 4, (i + 1) % 4, (i + 2) % 4, (i + 3) % 4}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("turn %d: %v, want %v", i, got, want)
		}
	}
}

// Every scorer stays in [0,1] on loads no engine should report, and cannot tell equals apart.
func TestScorersStayInRangeAndTreatEqualsAlike(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n := 2 + draw.IntN(20)
		w := newWorld(t, n)
		var loads []fleet.Load
		for h := range n {
			l := fleet.Load{InFlight: draw.IntN(4), Waiting: draw.IntN(1 << 20), Running: draw.IntN(3),
				Preempting: draw.IntN(2), KVUsage: draw.Float64()*3 - 1}
			if h > 0 && draw.IntN(2) == 0 {
				l = loads[draw.IntN(h)]
			}
			loads = append(loads, l)
			w.load(index.HostID(h), l)
		}
		for _, scorer := range []string{"least-load", "queue-depth", "running-requests", "kv-utilization"} {
			got := w.scores(scorer, nil, routing.Facts{})
			for i := range got {
				for j := range i {
					if loads[i] == loads[j] && got[i] != got[j] {
						t.Fatalf("%s: %+v twice, scored %g and %g", scorer, loads[i], got[i], got[j])
					}
				}
			}
		}
	}
}

package plugins_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
)

// scoring builds a profile of a picker and a scorer that says what the test says.
func (w *world) scoring(picker string, params map[string]any, scores []float64) *routing.Profile {
	w.t.Helper()
	reg := plugins.Registry(w.deps)
	reg["table"] = func(*routing.Params) routing.Plugin { return table(scores) }
	p, err := routing.Build(routing.ProfileSpec{Name: "p",
		Given: []routing.AnySlot{plugins.Fleet, plugins.HashKey, plugins.Session},
		Pick:  routing.PluginSpec{Name: picker, Params: params},
		Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "table"}, Weight: 1}}}, reg)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// drawn returns the share of n draws in which each replica came first.
func drawn(t *testing.T, picker string, params map[string]any, scores []float64, n int) (shares []float64) {
	t.Helper()
	w := newWorld(t, len(scores))
	p := w.scoring(picker, params, scores)
	shares = make([]float64, len(scores))
	for range n {
		c := routing.Acquire(routing.Facts{Specialist: "debug"})
		s := w.fleet.Snapshot("debug")
		plugins.Fleet.Put(c, s)
		c.Candidates(s.Hosts)
		d, err := p.Select(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		shares[d.Ranked[0].Host] += 1 / float64(n)
		c.Release()
	}
	return shares
}

// GAIE-31: proportional to the score, and a score of 0 is never picked.
//
//nolint:lll // raw text that cannot be broken
func TestWeightedRandomIsProportional(t *testing.T) {
	got := drawn(t, "weighted-random-picker", map[string]any{"seed": 2}, []float64{0.1, 0.9, 0}, 10000)
	if math.Abs(got[0]-0.1) > 0.02 || got[2] != 0 {
		t.Errorf("scores 10, 90, 0: shares %v", got)
	}
	if got = drawn(t, "weighted-random", map[string]any{"seed": 2}, []float64{0, 0}, 2000); math.Abs(got[0]-0.5) > 0.05 {
		t.Errorf("all 0: shares %v", got)
	}
}

// DYN-20: of five equally loaded but one, the busy one comes first only when drawn against none less busy: never.
//
//nolint:lll // raw text that cannot be broken
func TestPowerOfTwoTakesTheBetterOfTwo(t *testing.T) {
	w := newWorld(t, 5)
	w.load(3, fleet.Load{InFlight: 1})
	p := w.build(routing.ProfileSpec{Name: "p",
		Pick: routing.PluginSpec{Name: "power-of-two", Params: map[string]any{"seed": 5}}})
	counts := map[index.HostID]int{}
	for range 2000 {
		ranked := w.pick(p, routing.Facts{})
		counts[ranked[0]]++
		if len(ranked) != 5 {
			t.Fatalf("ranked %v", ranked)
		}
	}
	for h := range index.HostID(5) {
		switch n := counts[h]; {
		case h == 3 && n > 0:
			t.Errorf("the busiest won %d times", n)
		case h != 3 && (n < 400 || n > 600):
			t.Errorf("replica %d won %d of 2,000, want about 500", h, n)
		}
	}
	// Scores come first: the best wins whenever it is drawn, 2 of 5 times.
	if got := drawn(t, "power-of-two", map[string]any{"seed": 5}, []float64{0, 0, 1, 0, 0}, 5000); math.Abs(got[2]-0.4) > 0.03 {
		t.Errorf("the best of five wins %g of all draws", got[2])
	}
}

// The same seed gives the same decisions; a dry request sees the next one and changes nothing.
func TestChanceIsSeededAndLeftAloneByDryRequests(t *testing.T) {
	for _, picker := range []string{"random", "weighted-random", "softmax", "power-of-two"} {
		params := map[string]any{"seed": 11}
		if picker == "softmax" {
			params["temperature"] = 1
		}
		run := func(dry bool) (all []string) {
			w := newWorld(t, 6)
			p := w.scoring(picker, params, []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6})
			for range 30 {
				if dry {
					for range 3 {
						all = append(all, fmt.Sprint(w.pick(p, routing.Facts{Dry: true})))
					}
					all = all[:len(all)-2]
				}
				own := fmt.Sprint(w.pick(p, routing.Facts{}))
				if dry && own != all[len(all)-1] {
					t.Errorf("%s: dry %s, then %s", picker, all[len(all)-1], own)
				}
				if !dry {
					all = append(all, own)
				}
			}
			return all
		}
		a, b := run(false), run(true)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s: the same seed gives\n%v\n%v", picker, a, b)
		}
	}
}

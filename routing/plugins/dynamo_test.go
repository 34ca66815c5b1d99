package plugins_test

import (
	"math"
	"testing"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// busy gives replica h the backlog and the tokens in flight, in blocks of 4 tokens, for the length of the test.
func (w *world) busy(h index.HostID, backlog, blocks int) {
	f := w.replica(h).Route(fleet.Demand{Prompt: blocks * 4, Uncached: backlog * 4})
	w.t.Cleanup(f.Land)
}

// DYN-03, DYN-05, DYN-06, DYN-23: the document's three workers cost 18, 10 and 11, the second is picked, and the scores
// are in the same proportion. The prompt is as long for all, so its own blocks to hold shift all costs alike.
//
//nolint:lll // raw text that cannot be broken
func TestDynamoKVPicksTheLowestCost(t *testing.T) {
	w := newWorld(t, 3)
	for h, blocks := range []int{10, 5, 9} {
		w.busy(index.HostID(h), 0, blocks)
	}
	g := given{tokens: 32, depths: []uint16{0, 3, 6}, blocks: 8}
	if got := w.rated("dynamo-cost", nil, g, inFlightLoad()...); !near(got, []float64{0, 1, 7. / 8}) {
		t.Errorf("costs of 18, 10 and 11 score %v", got)
	}
	// At weight 2 the third, which holds most, is the cheapest: 26, 15, 13.
	if got := w.rated("dynamo-cost", map[string]any{"overlap_score_weight": 2}, g, inFlightLoad()...); !near(got, []float64{0, 11. / 13, 1}) {
		t.Errorf("at weight 2: %v", got)
	}
	if got := w.rated("dynamo-cost", nil, given{tokens: 32, depths: []uint16{0, 0, 0}, blocks: 8}, inFlightLoad()...); got[1] != 1 {
		t.Errorf("without a cache the least loaded is not the best: %v", got)
	}
}

// DYN-02, DYN-25: what is routed and not computed yet counts until its first token; a stale index leaves the load.
//
//nolint:lll // raw text that cannot be broken
func TestDynamoKVCountsWhatIsOnItsWay(t *testing.T) {
	w := newWorld(t, 2)
	w.busy(0, 5, 5)
	w.busy(1, 0, 9)
	g := given{tokens: 16, depths: []uint16{0, 0}, blocks: 4}
	if got := w.rated("dynamo-cost", nil, g, inFlightLoad()...); !near(got, []float64{0, 1}) {
		t.Errorf("5 + 5 blocks against 9: %v", got)
	}
	if got := w.rated("dynamo-cost", map[string]any{"track_prefill": false}, g, inFlightLoad()...); !near(got, []float64{1, 0}) {
		t.Errorf("prefill not tracked: %v", got)
	}
	text := "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb"
	w.holds[0] = w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
	w.stale = index.HostSet(0)
	if got := w.pick(w.preset("dynamo-kv"), prompt(text))[0]; got != 1 {
		t.Errorf("a stale index is trusted: %d", got)
	}
}

// DYN-07: requests that end only when all have come. A high weight sends more of them to where their prompt is, a low
// one spreads them more evenly.
func TestTheOverlapWeightTradesReuseAgainstEvenLoad(t *testing.T) {
	run := func(weight float64) (held, spread int) {
		w := newWorld(t, 4)
		count := [4]int{}
		for range 60 {
			g := given{tokens: 64, depths: []uint16{14, 0, 0, 0}, blocks: 16}
			d, _, err := w.decide(routing.ProfileSpec{Prepare: inFlightLoad(), Score: []routing.WeightedSpec{
				{PluginSpec: routing.PluginSpec{Name: "dynamo-cost",
					Params: map[string]any{"overlap_score_weight": weight}}, Weight: 1}}}, g)
			if err != nil {
				t.Fatal(err)
			}
			h := d.Ranked[0].Host
			w.busy(h, 0, 16)
			count[h]++
		}
		return count[0], max(count[0], count[1], count[2], count[3]) - min(count[0], count[1], count[2], count[3])
	}
	heldLow, spreadLow := run(0.1)
	heldHigh, spreadHigh := run(20)
	if heldHigh <= heldLow || spreadHigh <= spreadLow {
		t.Errorf("weight 0.1: %d on the holder, spread %d; weight 20: %d, %d", heldLow, spreadLow, heldHigh, spreadHigh)
	}
}

// DYN-08, DYN-23: the shares of softmax over the normalised costs, at several temperatures.
func TestSoftmaxDrawsInProportion(t *testing.T) {
	scores := []float64{0, 0.5, 1} // the costs 3, 2 and 1
	for _, temperature := range []float64{0.2, 1, 10} {
		var want [3]float64
		sum := 0.0
		for i, s := range scores {
			want[i] = math.Exp(s / temperature)
			sum += want[i]
		}
		got := drawn(t, "softmax", map[string]any{"temperature": temperature, "seed": 1}, scores, 20000)
		for i := range want {
			if math.Abs(got[i]-want[i]/sum) > 0.015 {
				t.Errorf("temperature %g: shares %v, want %v over %g", temperature, got, want, sum)
				break
			}
		}
	}
	if got := drawn(t, "softmax", map[string]any{"temperature": 0}, scores, 50); got[0]+got[1] != 0 {
		t.Errorf("temperature 0 is not deterministic: %v", got)
	}
}

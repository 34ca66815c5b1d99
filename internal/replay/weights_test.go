package replay_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"octet/internal/race"
	"octet/internal/replay"
	"octet/routing"
)

// readers is a load of documents that many ask about within a while, for long answers: what a replica saves by holding
// the document it pays for with a larger batch.
func readers(seed uint64) replay.Trace {
	var all []replay.Request
	const documents, each, blocks = 12, 60, 12
	dice := rand.New(rand.NewPCG(seed, 1))
	for d := range uint64(documents) {
		at := time.Duration(d) * 40 * time.Second
		for i := range uint64(each) {
			question := 1<<20 + d*each + i
			var asked []uint64
			for b := range uint64(blocks) {
				asked = append(asked, d*blocks+b)
			}
			asked = append(asked, question)
			all = append(all, replay.Request{At: at, Input: len(asked)*replay.TraceBlock - dice.IntN(400),
				Output: 2000, Blocks: ids(asked...), Session: fmt.Sprint(question)})
			at += time.Duration(dice.ExpFloat64() * float64(300*time.Millisecond))
		}
	}
	return of(all...)
}

// DYN-07: over replays in virtual time a high overlap weight gives the shorter first token and the longer time between
// tokens, a low one the reverse, where requests that share a prompt decode for long. Where what is saved is prefill
// that others' tokens would have waited for, the high weight is better in both.
func TestTheOverlapWeightTradesTTFTAgainstITL(t *testing.T) {
	race.Skip(t)
	by := func(weight float64) replay.Contender {
		c := preset(t, "dynamo-kv")
		c.Spec.Score = []routing.WeightedSpec{{Weight: 1, PluginSpec: routing.PluginSpec{Name: "dynamo-cost",
			Params: map[string]any{"overlap_score_weight": weight}}}}
		return c
	}
	for seed := range uint64(3) {
		low := run(t, replay.Default(), readers(seed), by(1))
		high := run(t, replay.Default(), readers(seed), by(20))
		t.Logf("readers, seed %d: weight 1 TTFT %.3f s, ITL %.1f ms; weight 20 TTFT %.3f s, ITL %.1f ms", seed,
			low.TTFT.Mean, low.ITL.Mean*1e3, high.TTFT.Mean, high.ITL.Mean*1e3)
		if high.TTFT.Mean > 0.95*low.TTFT.Mean || low.ITL.Mean > 0.7*high.ITL.Mean {
			t.Errorf("seed %d: TTFT %.3f s at weight 1, %.3f s at 20; ITL %.4f s at weight 1, %.4f s at 20", seed,
				low.TTFT.Mean, high.TTFT.Mean, low.ITL.Mean, high.ITL.Mean)
		}
		if high.HitRate <= low.HitRate || high.Imbalance <= low.Imbalance {
			t.Errorf("seed %d: hits %.3f and %.3f, imbalance %.2f and %.2f", seed, low.HitRate, high.HitRate,
				low.Imbalance, high.Imbalance)
		}
	}
	low := run(t, replay.Default(), busy.trace(0), by(1))
	high := run(t, replay.Default(), busy.trace(0), by(20))
	t.Logf("conversations: weight 1 TTFT %.3f s, ITL %.1f ms; weight 20 TTFT %.3f s, ITL %.1f ms",
		low.TTFT.Mean, low.ITL.Mean*1e3, high.TTFT.Mean, high.ITL.Mean*1e3)
	if high.TTFT.Mean >= low.TTFT.Mean || high.ITL.Mean >= low.ITL.Mean {
		t.Errorf("conversations: TTFT %.3f and %.3f s, ITL %.4f and %.4f s", low.TTFT.Mean, high.TTFT.Mean,
			low.ITL.Mean, high.ITL.Mean)
	}
}

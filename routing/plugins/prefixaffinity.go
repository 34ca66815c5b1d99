package plugins

import (
	"math"

	"octet/routing"
	"octet/routing/index"
)

// prefixAffinity narrows the candidates to those that hold most of the prompt: nearly always, and unless they would
// answer much later than the others.
type prefixAffinity struct {
	named
	threshold float64
	explore   float64
	penalty   float64 // seconds
	dice      *dice
}

// newPrefixAffinity: threshold (default 0.8) is the share of the prompt's blocks that makes a replica sticky; explore
// (default 0.01) is the share of requests for which stickiness is ignored, so that other replicas warm up;
// max_ttft_penalty_ms (default 5000) is how much later than at the quickest of all the first token may be foretold at
// the quickest sticky one; 0 has no such gate; seed makes the draws repeatable.
func newPrefixAffinity(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return prefixAffinity{
			named{"prefix-cache-affinity", reads(BlockHashes, Depths, routing.Optional(Forecasts))},
			p.Float("threshold", 0.8, 0, 1), p.Float("explore", 0.01, 0, 1),
			p.Float("max_ttft_penalty_ms", 5000, 0, 1e9) / 1e3, newDice(d, p),
		}
	}
}

// Filter implements routing.Filter.
func (a prefixAffinity) Filter(v routing.View, left *index.HostBitmap) {
	sticky := a.sticky(v, *left)
	if sticky.Empty() || sticky == *left || a.slower(v, sticky, *left) || a.dice.chance(v, a.explore) {
		return
	}
	*left = sticky
}

func (a prefixAffinity) sticky(v routing.View, in index.HostBitmap) (some index.HostBitmap) {
	blocks, depths := len(BlockHashes.Get(v)), Depths.Get(v)
	if blocks == 0 || depths == nil {
		return some
	}
	least := a.threshold * float64(blocks)
	for h := range in.All() {
		if depths[h] > 0 && float64(depths[h]) >= least {
			some.Set(h)
		}
	}
	return some
}

// slower returns true if stickiness would cost more than the penalty. What is not foretold costs nothing.
func (a prefixAffinity) slower(v routing.View, sticky, in index.HostBitmap) bool {
	forecasts := Forecasts.Get(v)
	if forecasts == nil || a.penalty == 0 {
		return false
	}
	quickest := func(among index.HostBitmap) float64 {
		ttft := math.Inf(1)
		for h := range among.All() {
			if f := forecasts[h]; f.Known {
				ttft = min(ttft, f.TTFT)
			}
		}
		return ttft
	}
	there := quickest(sticky)
	return !math.IsInf(there, 1) && there-quickest(in) > a.penalty
}

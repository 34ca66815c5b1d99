package plugins

import (
	"math"
	"math/rand/v2"

	"octet/routing"
)

// softmax ranks by chance in proportion to exp(score / temperature), the scores stretched over [0,1] before: the keys
// score/temperature + Gumbel noise. At temperature 0 it is max-score.
type softmax struct {
	named
	temperature float64
	keep        int
	dice        *dice
}

// newSoftmax: temperature (default 0) is how much chance there is; keep as for max-score; seed makes the draws
// repeatable.
func newSoftmax(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return softmax{named{"softmax", nil}, p.Float("temperature", 0, 0, 1e6), keepParam(p), newDice(d, p)}
	}
}

// Pick implements routing.Picker.
func (m softmax) Pick(v routing.View, scored []routing.Scored) (ranked []routing.Scored) {
	if m.temperature == 0 {
		return best(scored, m.keep, func(_ int, s routing.Scored) float64 { return s.Score })
	}
	var scores span
	for _, s := range scored {
		scores.add(s.Score)
	}
	m.dice.roll(v, func(draw *rand.Rand) {
		ranked = best(scored, m.keep, func(_ int, s routing.Scored) float64 {
			return scores.place(s.Score)/m.temperature - math.Log(-math.Log(1-draw.Float64()))
		})
	})
	return ranked
}

package plugins

import (
	"math"
	"math/rand/v2"

	"octet/routing"
)

// weightedRandom ranks by chance in proportion to the scores, without replacement: the keys ln(u)/score of Efraimidis
// and Spirakis. A score of 0 is picked only where all are 0.
type weightedRandom struct {
	named
	keep int
	dice *dice
}

// newWeightedRandom: keep as for max-score; seed makes the draws repeatable.
func newWeightedRandom(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return weightedRandom{named{"weighted-random", nil}, keepParam(p), newDice(d, p)}
	}
}

// Pick implements routing.Picker.
func (w weightedRandom) Pick(v routing.View, scored []routing.Scored) (ranked []routing.Scored) {
	positive := 0
	for i, s := range scored {
		if s.Score > 0 {
			scored[i], scored[positive] = scored[positive], s
			positive++
		}
	}
	among := scored[:positive]
	if positive == 0 {
		among = scored
	}
	w.dice.roll(v, func(draw *rand.Rand) {
		ranked = best(among, w.keep, func(_ int, s routing.Scored) float64 {
			if positive == 0 {
				return draw.Float64()
			}
			return math.Log(1-draw.Float64()) / s.Score
		})
	})
	return ranked
}

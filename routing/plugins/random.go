package plugins

import (
	"math/rand/v2"

	"octet/routing"
)

// random ranks by chance, whatever the scores.
type random struct {
	named
	keep int
	dice *dice
}

// newRandom: keep as for max-score; seed makes the draws repeatable.
func newRandom(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return random{named{"random", nil}, keepParam(p), newDice(d, p)}
	}
}

// Pick implements routing.Picker: the first steps of a Fisher–Yates shuffle.
func (r random) Pick(v routing.View, scored []routing.Scored) []routing.Scored {
	kept := min(r.keep, len(scored))
	r.dice.roll(v, func(draw *rand.Rand) {
		for i := range kept {
			j := i + draw.IntN(len(scored)-i)
			scored[i], scored[j] = scored[j], scored[i]
		}
	})
	return scored[:kept]
}

package plugins

import (
	"math/rand/v2"

	"octet/routing"
)

// powerOfTwo draws two candidates and takes the one with the better score, or of equals the one with less in flight, or
// of equals the one drawn first; the other comes second, and then the rest by score.
type powerOfTwo struct {
	named
	keep int
	dice *dice
}

// newPowerOfTwo: keep as for max-score; seed makes the draws repeatable.
func newPowerOfTwo(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return powerOfTwo{named{"power-of-two", reads(Fleet)}, keepParam(p), newDice(d, p)}
	}
}

// Pick implements routing.Picker.
func (w powerOfTwo) Pick(v routing.View, scored []routing.Scored) []routing.Scored {
	if len(scored) < 2 {
		return scored
	}
	var i, j int
	w.dice.roll(v, func(draw *rand.Rand) {
		i, j = draw.IntN(len(scored)), draw.IntN(len(scored)-1)
	})
	if j >= i {
		j++
	}
	if w.better(v, scored[j], scored[i]) {
		i, j = j, i
	}
	first, second := scored[i].Host, scored[j].Host
	return best(scored, w.keep, func(_ int, s routing.Scored) float64 {
		switch s.Host {
		case first:
			return 2 + ceiling
		case second:
			return 1 + ceiling
		}
		return s.Score
	})
}

// ceiling is over every weighted sum: weights are 1e6 at most, and few.
const ceiling = 1e15

func (powerOfTwo) better(v routing.View, a, b routing.Scored) bool {
	replicas := Fleet.Get(v)
	if a.Score != b.Score {
		return a.Score > b.Score
	}
	return replicas.Replica(a.Host).InFlight() < replicas.Replica(b.Host).InFlight()
}

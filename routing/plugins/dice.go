package plugins

import (
	"math/rand/v2"
	"sync"

	"octet/routing"
)

// dice are a plugin's seeded source of chance. A dry request sees what the next real one would, and changes nothing.
type dice struct {
	mu   sync.Mutex
	pcg  rand.PCG   // guarded by mu; a plain value, so that a dry request draws from a copy
	draw *rand.Rand // on pcg; guarded by mu
}

// newDice: seed (default the process's) makes the draws repeatable.
func newDice(d Deps, p *routing.Params) *dice {
	seed := uint64(p.Int("seed", int(d.Seed&(1<<31-1)), 0, 1<<31-1))
	return diceOf(seed)
}

func diceOf(seed uint64) *dice {
	d := &dice{pcg: *rand.NewPCG(seed, 0)}
	d.draw = rand.New(&d.pcg)
	return d
}

// roll calls f with the source. f draws and does nothing else.
func (d *dice) roll(v routing.View, f func(draw *rand.Rand)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.Facts().Dry {
		pcg := d.pcg
		f(rand.New(&pcg))
		return
	}
	f(d.draw)
}

// chance reports true in a share of all calls. Shares of 0 and 1 draw nothing.
func (d *dice) chance(v routing.View, share float64) (yes bool) {
	if share <= 0 || share >= 1 {
		return share >= 1
	}
	d.roll(v, func(draw *rand.Rand) { yes = draw.Float64() < share })
	return yes
}

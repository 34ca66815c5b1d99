package plugins

import (
	"math/rand/v2"
	"sync"

	"octet/routing"
)

// random ranks by chance, whatever the scores.
type random struct {
	named
	keep int

	mu  sync.Mutex
	pcg rand.PCG // guarded by mu; a plain value, so that a dry request draws from a copy
}

// newRandom: seed (default the process's) makes the draws repeatable.
func newRandom(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		seed := uint64(p.Int("seed", int(d.Seed&(1<<31-1)), 0, 1<<31-1))
		return &random{named: named{"random", nil}, keep: keepParam(p), pcg: *rand.NewPCG(seed, 0)}
	}
}

// Pick implements routing.Picker: the first steps of a Fisher–Yates shuffle.
func (r *random) Pick(v routing.View, scored []routing.Scored) []routing.Scored {
	kept := min(r.keep, len(scored))
	r.mu.Lock()
	defer r.mu.Unlock()
	pcg := r.pcg
	draw := rand.New(&pcg)
	for i := range kept {
		j := i + draw.IntN(len(scored)-i)
		scored[i], scored[j] = scored[j], scored[i]
	}
	if !v.Facts().Dry {
		r.pcg = pcg
	}
	return scored[:kept]
}

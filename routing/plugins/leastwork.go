package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// leastWork scores by what a replica would cost in seconds of work, 1/(1+cost):
//
//	backlog + own × (uncached prompt / rate) + active × requests
type leastWork struct {
	named
	own    float64
	active float64 // s a request
	rate   float64 // assumed, tokens a second
	test   [8]float64
}

func newLeastWork(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		s := leastWork{
			named:  named{"least-work", reads(Fleet, BlockHashes, PromptTokens, Depths)},
			own:    p.Float("own", 2, 0, 1e6),
			active: p.Float("active", 0.05, 0, 1e6),
			rate:   p.Float("rate", 8000, 1, 1e9),
		}
		for i, n := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			s.test[i] = p.Float(n, 0, -1e9, 1e9)
		}
		return s
	}
}

// Score implements routing.Scorer.
func (s leastWork) Score(v routing.View, hosts []index.HostID, out []float64) {
	replicas, chain, depths := Fleet.Get(v), BlockHashes.Get(v), Depths.Get(v)
	prompt, size := PromptTokens.Get(v), replicas.BlockSize()
	total := 0.0
	for i, h := range hosts {
		r := replicas.Replica(h)
		w := r.Work(chain)
		rate := w.Rate
		if rate == 0 || s.test[0] == 1 {
			rate = s.rate
		}
		if s.test[5] > 0 {
			l := r.Load()
			rate = s.rate / (1 + s.test[5]*float64(max(0, l.InFlight+l.Waiting-w.Open)))
		}
		out[i] = w.Tokens / rate
		total += out[i]
	}
	mean := total / float64(len(hosts))
	if s.test[6] > 0 {
		mean = min(mean, s.test[6])
	}
	k := s.own + s.test[2]*mean
	least := 1e18
	for i := range hosts {
		least = min(least, out[i])
	}
	k += s.test[4] * least
	for i, h := range hosts {
		r := replicas.Replica(h)
		load, work := r.Load(), r.Work(chain)
		rate := work.Rate
		if rate == 0 || s.test[0] == 1 {
			rate = s.rate
		}
		if s.test[5] > 0 {
			l := r.Load()
			rate = s.rate / (1 + s.test[5]*float64(max(0, l.InFlight+l.Waiting-work.Open)))
		}
		depth := int(depths[h])
		if s.test[1] == 0 {
			depth = max(depth, work.Shared)
		}
		uncached := float64(prompt - depth*size)
		own := uncached / rate
		cost := out[i]/(1+s.test[3]*own) + k*own + s.active*float64(load.InFlight+load.Waiting)
		out[i] = 1 / (1 + cost)
	}
}

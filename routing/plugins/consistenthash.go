package plugins

import (
	"math"

	"octet/routing"
)

// consistentHash ranks by a hash of the request's key and the replica's name: rendezvous hashing (Thaler and
// Ravishankar 1998), so that a replica that comes or goes moves its own share of keys and no other, and all gateways
// agree. Replicas that have more than their share in flight come after the others: bounded load (Mirrokni, Thorup and
// Zadimoghaddam 2018). A request without a key goes by score.
type consistentHash struct {
	named
	factor float64
	within float64
	keep   int
}

// newConsistentHash: load_factor (default 1.25) is how many times the mean load a replica may have, 0 has no bound;
// within (default 1e9) leaves to the hash only the candidates whose weighted sum is at most so much below the best: the
// others come after, by score; keep as for max-score.
func newConsistentHash(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		c := consistentHash{
			named{"consistent-hash", reads(Fleet, HashKey)},
			p.Float("load_factor", 1.25, 0, 1e6), p.Float("within", 1e9, 0, 1e9), keepParam(p),
		}
		if c.factor > 0 && c.factor < 1 {
			p.Refuse("load_factor is %g: below 1 there is no room for all", c.factor)
		}
		return c
	}
}

// Pick implements routing.Picker.
func (c consistentHash) Pick(v routing.View, scored []routing.Scored) []routing.Scored {
	key := HashKey.Get(v)
	if key == 0 {
		return best(scored, c.keep, func(_ int, s routing.Scored) float64 { return s.Score })
	}
	replicas := Fleet.Get(v)
	total, top := 0, math.Inf(-1)
	for _, s := range scored {
		total += replicas.Replica(s.Host).InFlight()
		top = max(top, s.Score)
	}
	bound := c.bound(total, len(scored))
	return best(scored, c.keep, func(_ int, s routing.Scored) float64 {
		r := replicas.Replica(s.Host)
		rank := float64(mix(key^mix(r.Key()))>>11) / (1 << 53) // in [0,1)
		switch {
		case top-s.Score > c.within:
			return s.Score - ceiling
		case r.InFlight() < bound:
			return rank + 1
		}
		return rank
	})
}

// bound is how many requests a replica may have in flight with the next one counted in. There is always one with room.
func (c consistentHash) bound(total, replicas int) int {
	if c.factor == 0 {
		return math.MaxInt
	}
	return int(math.Ceil(c.factor * float64(total+1) / float64(replicas)))
}

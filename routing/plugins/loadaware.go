package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// loadAware scores queues against a fixed limit instead of against each other: 0.5 for an empty one, down to 0 at the
// limit.
type loadAware struct {
	named
	limit float64 // requests
}

// newLoadAware: threshold (default 128) is the queue that scores 0.
func newLoadAware(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return loadAware{named{"load-aware", reads(Fleet)}, float64(p.Int("threshold", 128, 1, 1<<20))}
	}
}

// Score implements routing.Scorer.
func (s loadAware) Score(v routing.View, hosts []index.HostID, out []float64) {
	replicas := Fleet.Get(v)
	for i, h := range hosts {
		out[i] = max(0, 0.5*(1-float64(replicas.Replica(h).Load().Waiting)/s.limit))
	}
}

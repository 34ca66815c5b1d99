package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// concurrency removes the replicas that have max requests or more in flight from this gateway.
type concurrency struct {
	named
	max int
}

// newConcurrency: max (default 1024) is the cap.
func newConcurrency(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return &concurrency{named{"concurrency", reads(Fleet)}, p.Int("max", 1024, 1, 1<<20)}
	}
}

// Filter implements routing.Filter.
func (f *concurrency) Filter(v routing.View, left *index.HostBitmap) {
	s := Fleet.Get(v)
	for h := range left.All() {
		if s.Replica(h).InFlight() >= f.max {
			left.Clear(h)
		}
	}
}

// Verdict implements routing.Judge.
func (*concurrency) Verdict() routing.Verdict { return routing.Overloaded }

package plugins

import (
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// concurrency removes the replicas that have max requests or more in flight from this gateway. Where all have, those
// stay whose own queue keeps the bound, and the request waits in it.
type concurrency struct {
	named
	max    int // 0 = mostInFlight, or the replica's own if that is more
	refuse bool
}

// mostInFlight is the cap where none is given.
const mostInFlight = 1024

// newConcurrency: max (default 1024, or the replica's max_running if that is more) is the cap; refuse (default false)
// has a request refused where all replicas are at it, though they would queue it.
func newConcurrency(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return &concurrency{named{"concurrency", reads(Fleet)}, p.Int("max", 0, 1, 1<<20), p.Bool("refuse", false)}
	}
}

// Filter implements routing.Filter.
func (f *concurrency) Filter(v routing.View, left *index.HostBitmap) {
	s, before := Fleet.Get(v), *left
	for h := range before.All() {
		if r := s.Replica(h); r.InFlight() >= f.most(r) {
			left.Clear(h)
		}
	}
	if !left.Empty() || f.refuse {
		return
	}
	for h := range before.All() {
		if r := s.Replica(h); f.queues(r) {
			left.Set(h)
		}
	}
}

// most is the cap of a replica.
func (f *concurrency) most(r *fleet.Replica) int {
	if f.max > 0 {
		return f.max
	}
	return max(mostInFlight, r.Spec().MaxRunning)
}

// queues returns true if the replica's own queue lets no more than the cap be in flight.
func (f *concurrency) queues(r *fleet.Replica) bool {
	running := r.Spec().MaxRunning
	return running > 0 && running <= f.most(r)
}

// Verdict implements routing.Judge.
func (*concurrency) Verdict() routing.Verdict { return routing.Overloaded }

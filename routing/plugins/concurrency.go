package plugins

import (
	"math/bits"

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
func (f *concurrency) Filter(v routing.View, in index.HostBitmap) index.HostBitmap {
	f.Narrow(v, &in)
	return in
}

// Verdict implements routing.Judge.
func (*concurrency) Verdict() routing.Verdict { return routing.Overloaded }

// Narrow implements routing.Narrower.
func (f *concurrency) Narrow(v routing.View, left *index.HostBitmap) (fewer bool) {
	s := Fleet.Get(v)
	for i, w := range left {
		for ; w != 0; w &= w - 1 {
			if h := index.HostID(i<<6 + bits.TrailingZeros64(w)); s.Replica(h).InFlight() >= f.max {
				left.Clear(h)
				fewer = true
			}
		}
	}
	return fewer
}

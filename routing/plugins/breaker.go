package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// breaker removes the replicas whose availability breaker lets nothing through: open, or half-open with all probes out.
type breaker struct{ named }

func newBreaker(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin { return &breaker{named{"breaker", reads(Fleet)}} }
}

// Filter implements routing.Filter. It asks only breakers that are not closed.
func (b *breaker) Filter(v routing.View, in index.HostBitmap) index.HostBitmap {
	b.Narrow(v, &in)
	return in
}

// Verdict implements routing.Judge.
func (*breaker) Verdict() routing.Verdict { return routing.BreakerOpen }

// Narrow implements routing.Narrower.
func (*breaker) Narrow(v routing.View, left *index.HostBitmap) (fewer bool) {
	s := Fleet.Get(v)
	if s.NoneTripped() {
		return false
	}
	for h := range s.Tripped().And(*left).All() {
		if !s.Replica(h).Admits() {
			left.Clear(h)
			fewer = true
		}
	}
	return fewer
}

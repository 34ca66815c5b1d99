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
func (*breaker) Filter(v routing.View, left *index.HostBitmap) {
	s := Fleet.Get(v)
	if s.NoneTripped() {
		return
	}
	for h := range s.Tripped().And(*left).All() {
		if !s.Replica(h).Admits() {
			left.Clear(h)
		}
	}
}

// Verdict implements routing.Judge.
func (*breaker) Verdict() routing.Verdict { return routing.BreakerOpen }

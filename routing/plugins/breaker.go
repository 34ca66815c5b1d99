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
func (*breaker) Filter(v routing.View, in index.HostBitmap) index.HostBitmap {
	s := Fleet.Get(v)
	tripped := s.Tripped().And(in)
	if tripped.Empty() {
		return in
	}
	for h := range tripped.All() {
		if !s.Replica(h).Admits() {
			in.Clear(h)
		}
	}
	return in
}

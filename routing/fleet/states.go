package fleet

import (
	"sync/atomic"

	"octet/routing/index"
)

// states is what changes about the replicas of a Fleet, by host.
type states struct {
	down     index.CountedSet // probes or connections fail
	draining index.CountedSet // takes no new requests
	tripped  index.CountedSet // its breaker is not closed

	withdrawn index.CountedSet // its engine goes away, or its events have stopped

	departures atomic.Uint64 // replicas that have left, counted before their bits are another's
}

// forget makes h look like a new replica.
func (s *states) forget(h index.HostID) {
	s.down.Clear(h)
	s.draining.Clear(h)
	s.tripped.Clear(h)
	s.withdrawn.Clear(h)
}

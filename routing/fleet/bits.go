package fleet

import (
	"sync/atomic"

	"octet/routing/index"
)

// bits is a HostBitmap that many goroutines change one bit at a time.
type bits [index.Words]atomic.Uint64

func (b *bits) set(h index.HostID)      { b[h>>6].Or(1 << (h & 63)) }
func (b *bits) clear(h index.HostID)    { b[h>>6].And(^uint64(1 << (h & 63))) }
func (b *bits) has(h index.HostID) bool { return b[h>>6].Load()&(1<<(h&63)) != 0 }

func (b *bits) load() (m index.HostBitmap) {
	for i := range b {
		m[i] = b[i].Load()
	}
	return m
}

// states is what changes about the replicas of a Fleet, by host.
type states struct {
	down     bits // probes or connections fail
	draining bits // takes no new requests
	tripped  bits // its breaker is not closed
}

// forget makes h look like a new replica.
func (s *states) forget(h index.HostID) {
	s.down.clear(h)
	s.draining.clear(h)
	s.tripped.clear(h)
}

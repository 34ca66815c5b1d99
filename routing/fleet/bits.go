package fleet

import (
	"sync/atomic"

	"octet/routing/index"
)

// bits is a HostBitmap that many goroutines change one bit at a time. Mostly it is empty, which is one load to see.
type bits struct {
	words [index.Words]atomic.Uint64
	count atomic.Int64 // at least how many are set; no more than that once no change is under way
}

func (b *bits) set(h index.HostID) {
	b.count.Add(1)
	if bit := uint64(1) << (h & 63); b.words[h>>6].Or(bit)&bit != 0 {
		b.count.Add(-1) // it was
	}
}

func (b *bits) clear(h index.HostID) {
	if bit := uint64(1) << (h & 63); b.words[h>>6].And(^bit)&bit != 0 {
		b.count.Add(-1)
	}
}

func (b *bits) has(h index.HostID) bool { return b.words[h>>6].Load()&(1<<(h&63)) != 0 }

func (b *bits) empty() bool { return b.count.Load() == 0 }

func (b *bits) load() (m index.HostBitmap) {
	for i := range b.words {
		m[i] = b.words[i].Load()
	}
	return m
}

// states is what changes about the replicas of a Fleet, by host.
type states struct {
	down     bits // probes or connections fail
	draining bits // takes no new requests
	tripped  bits // its breaker is not closed

	departures atomic.Uint64 // replicas that have left, counted before their bits are another's
}

// forget makes h look like a new replica.
func (s *states) forget(h index.HostID) {
	s.down.clear(h)
	s.draining.clear(h)
	s.tripped.clear(h)
}

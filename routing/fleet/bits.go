package fleet

import (
	"sync/atomic"

	"octet/routing/index"
)

// bits are a replica's in the states of its Fleet, and what they said when it left.
type bits struct {
	states *states
	host   index.HostID
	last   atomic.Pointer[state] // nil before
}

// state is what a replica's bits said when it left the Fleet; later they are those of the next replica in its slot.
type state struct{ down, draining, withdrawn bool }

// Healthy returns true if probes and connections succeed, as far as is known.
func (b *bits) Healthy() bool {
	down := b.states.down.Has(b.host)
	if last := b.last.Load(); last != nil { // looked at after the bit, which was its own otherwise
		return !last.down
	}
	return !down
}

// Draining returns true if the replica takes no new requests.
func (b *bits) Draining() bool {
	draining := b.states.draining.Has(b.host)
	if last := b.last.Load(); last != nil { // likewise
		return last.draining
	}
	return draining
}

// Withdrawn returns true if the replica takes no new requests because its engine has announced that it goes away or
// says that it does not serve, its events have stopped, or it is found no more.
func (b *bits) Withdrawn() bool {
	withdrawn := b.states.withdrawn.Has(b.host)
	if last := b.last.Load(); last != nil { // looked at after the bit, which was its own otherwise
		return last.withdrawn
	}
	return withdrawn
}

// Available returns true if the replica is healthy, not draining and not withdrawn.
func (b *bits) Available() bool { return b.Healthy() && !b.Draining() && !b.Withdrawn() }

// Departed returns true if the replica has left the Fleet: its slot is, or may soon be, another's.
func (b *bits) Departed() bool { return b.last.Load() != nil }

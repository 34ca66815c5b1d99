package events

import (
	"fmt"
	"io"
)

// Adopt replaces all that is known of a replica's cache by what its engine answered when it was asked what it holds:
// held, Registered events, parents before their children. It is for engines whose answers are numbered by another clock
// than their events, as where the gateway or a bridge numbers those: see Resync for others. What the engine has
// published until it answered may come after that, so each block counts as one copy, and no store makes it two. The
// replica is not stale any more. Adopt fails with ErrUnknown, also where nothing of the replica was heard, and as
// Batch.Check does.
func (f *Feed) Adopt(replica string, held []Event) error {
	for i := range held {
		if err := held[i].check(); err != nil {
			return err
		}
	}
	s := f.known(replica)
	if s == nil {
		return fmt.Errorf("%w: %q", ErrUnknown, replica)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	target, ok := f.resolve(replica)
	if !ok || s.gone || !target.same(s.target) || !s.order.seen {
		return fmt.Errorf("%w: %q", ErrUnknown, replica)
	}
	return locked{f, s}.refill(s.order.epoch, s.order.last, func() {
		for i := range held {
			if held[i].Kind == Registered {
				s.held.change(&held[i], s.target, f.hasher)
			}
		}
		s.held.single()
	})
}

// single makes one copy of each block's copies in a tier, and leaves it at that until it is evicted.
func (m *mapping) single() {
	for hash, b := range m.blocks {
		for t, n := range b.copies {
			b.copies[t] = min(n, 1)
		}
		b.single = true
		m.blocks[hash] = b
	}
}

// LoadMissed takes over what a peer has saved of replicas of which batches are missing here: those that wanted returns
// true of. Where the peer numbers the replica's lives by another clock, it has to have applied the same batch under the
// same number: its mark tells. Then, and where it has not come further than this feed has, nothing is taken over.
// Otherwise it is Load.
func (f *Feed) LoadMissed(r io.Reader, wanted func(replica string) bool) (replicas int, err error) {
	all, err := f.read(r, wanted)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	for _, old := range all {
		to, ok := f.resolve(old.replica)
		if !ok || to.keys() != old.keys || to.BlockSize != old.blockSize || !f.renumber(&old) {
			continue
		}
		if f.takeOverSaved(old) == nil {
			replicas++
		}
	}
	return replicas, nil
}

// renumber gives a saved replica the epoch that it has here. It returns false if it may be of another life.
func (f *Feed) renumber(old *restored) bool {
	s := f.known(old.replica)
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.order
	if !q.started || old.epoch == q.epoch {
		return q.started
	}
	mark := s.mark
	if !q.seen || q.last != old.seq {
		mark = q.early[old.seq].Mark
	}
	old.epoch = q.epoch
	return old.mark != 0 && mark == old.mark
}

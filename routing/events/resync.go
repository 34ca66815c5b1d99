package events

import (
	"errors"
	"fmt"

	"octet/routing/index"
)

// What Resync fails with.
var (
	ErrUnknown  = errors.New("events: no such replica")
	ErrOutdated = errors.New("events: the snapshot is older than what is known")
)

// Position returns how far a replica's batches were applied; false where none was.
func (f *Feed) Position(replica string) (Position, bool) {
	s := f.known(replica)
	if s == nil {
		return Position{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return Position{s.order.epoch, s.order.last, s.mark}, s.order.seen
}

// Hold keeps back what a replica publishes from now on, so that what it answers when it is asked afterwards is not
// outdated when it comes. A Resync ends that, a new life of the replica, or the returned func; or that too much waits.
func (f *Feed) Hold(replica string) (release func()) {
	s := f.known(replica)
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order.hold = s.order.started
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.order.hold = false; !s.gone {
			locked{f, s}.drain()
		}
	}
}

// Resync replaces all that is known of a replica's cache by what it holds after its batch seq of epoch: held,
// Registered events, parents before their children. The replica is not stale any more, and goes on from there. It fails
// with ErrUnknown and ErrOutdated, changing nothing, and as Batch.Check does. A snapshot of another epoch than the
// replica's events are of is outdated too, even where it is the later one: the events may be numbered by another clock,
// a bridge's say, and after it they would all be old.
func (f *Feed) Resync(replica string, epoch, seq uint64, held []Event) error {
	for i := range held {
		if err := held[i].check(); err != nil {
			return err
		}
	}
	same := func(q *sequence) bool { return !q.started || q.epoch == epoch }
	return f.replace(replica, epoch, seq, same, func(s *replicaState) {
		for i := range held {
			if held[i].Kind == Registered {
				s.held.change(&held[i], s.target, f.hasher)
			}
		}
	})
}

// replace sets a replica back to what fill makes of an empty mapping, if its order may be.
func (f *Feed) replace(replica string, epoch, seq uint64, may func(*sequence) bool, fill func(*replicaState)) error {
	s := f.stateOf(replica)
	if s == nil {
		return fmt.Errorf("%w: %q", ErrUnknown, replica)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	target, ok := f.resolve(replica)
	if !ok || s.gone {
		return fmt.Errorf("%w: %q", ErrUnknown, replica)
	}
	s.move(target)
	if !may(&s.order) || !s.order.jump(epoch, seq) {
		return fmt.Errorf("%w: it ends at %d of epoch %d", ErrOutdated, seq, epoch)
	}
	return locked{f, s}.refill(epoch, seq, func() { fill(s) })
}

// refill replaces what is known of a replica by what fill makes of an empty mapping, which holds after the batch seq of
// epoch.
func (s locked) refill(epoch, seq uint64, fill func()) error {
	s.held.wipe()
	s.held.begin()
	fill()
	if out := s.index.Resync(s.target.Host, epoch, seq, stores(s.held.ops)); out != index.Applied {
		s.held.wipe()
		return fmt.Errorf("%w: the index says %s", ErrOutdated, out)
	}
	s.tally.resyncs.Add(1)
	s.missed = missed{}
	s.drain() // what waited for it
	return nil
}

// stores returns what is stored by ops, as a snapshot has it.
func stores(ops []index.Op) []index.TierBlocks {
	held := make([]index.TierBlocks, 0, len(ops))
	for _, op := range ops {
		if op.Kind == index.Store {
			held = append(held, index.TierBlocks{Tier: op.Tier, Blocks: op.Blocks, Parent: op.Parent,
				HasParent: op.HasParent, RootKnown: op.RootKnown})
		}
	}
	return held
}

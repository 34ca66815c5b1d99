package events

import "octet/routing/index"

// drain applies the waiting batches that are next, and those before which nothing more can come. Under s.mu.
func (f *Feed) drain(s *replicaState) {
	for {
		within := s.order.seen
		b, gap, ok := s.order.next()
		if !ok {
			return
		}
		if gap || b.Lost {
			f.tally.gaps.Add(1)
			s.miss(&b, within, f.now())
		}
		f.apply(s, b)
		f.onApplied(s, &b)
	}
}

// apply carries b out. Under s.mu.
func (f *Feed) apply(s *replicaState, b Batch) {
	s.mark = b.Mark
	s.refused += uint64(b.Refused)
	f.tally.refusedEvents.Add(uint64(b.Refused))
	s.held.begin()
	for i := range b.Events {
		s.held.change(&b.Events[i], s.target, f.hasher)
		if empties(b.Events[i].Kind) {
			s.missed = missed{}
		}
	}
	s.recover()
	out := f.index.Apply(index.Batch{Host: s.target.Host, Epoch: b.Epoch, Seq: b.Seq, Ops: s.held.ops,
		Lost: b.Lost, Grain: s.held.grain})
	s.held.letGo()
	f.noteEnd(s, &b, out)
	switch out {
	case index.Applied, index.Gap:
		f.tally.applied.Add(1)
	case index.Dead:
		f.tally.dead.Add(1)
		s.held.wipe() // whatever the slot holds next, it is not this
	default:
		f.tally.refused.Add(1)
	}
	if !b.At.IsZero() {
		f.tally.lag.Store(int64(max(f.now().Sub(b.At), 0)))
	}
}

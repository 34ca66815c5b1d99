package events

import "octet/routing/index"

// drain applies the waiting batches that are next, and those before which nothing more can come.
func (s locked) drain() {
	for {
		within := s.order.seen
		b, gap, ok := s.order.next()
		if !ok {
			return
		}
		if gap || b.Lost {
			s.tally.gaps.Add(1)
			s.miss(&b, within, s.now())
		}
		s.apply(b)
		s.onApplied(&b)
	}
}

// apply carries b out.
func (s locked) apply(b Batch) {
	s.mark = b.Mark
	s.refused += uint64(b.Refused)
	s.tally.refusedEvents.Add(uint64(b.Refused))
	s.held.begin()
	for i := range b.Events {
		s.held.change(&b.Events[i], s.target, s.hasher)
		if empties(b.Events[i].Kind) {
			s.missed = missed{}
		}
	}
	s.recover()
	out := s.index.Apply(index.Batch{Host: s.target.Host, Epoch: b.Epoch, Seq: b.Seq, Ops: s.held.ops,
		Lost: b.Lost, Grain: s.held.grain})
	s.held.letGo()
	s.noteEnd(&b, out)
	switch out {
	case index.Applied, index.Gap:
		s.tally.applied.Add(1)
	case index.Dead:
		s.tally.dead.Add(1)
		s.held.wipe() // whatever the slot holds next, it is not this
	default:
		s.tally.refused.Add(1)
	}
	if !b.At.IsZero() {
		s.tally.lag.Store(int64(max(s.now().Sub(b.At), 0)))
	}
}

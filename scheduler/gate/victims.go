package gate

import (
	"cmp"
	"slices"

	"octet/kvpool"
	"octet/scheduler"
	"octet/scheduler/queue"
)

// preemption chooses the leases that give way to a more urgent request, and bounds the work that this has done again.
type preemption struct {
	redo    redoBudget
	victims []victim // scratch of candidates
}

// victim is a lease that may give way, and what that costs.
type victim struct {
	lease *Lease
	cost  float64 // tokens to compute again for a freed block
}

// choose appends victims for r to the roster's yielding until r fits without them. It returns how many were yielding
// before, and whether r fits. The caller either tells those that were appended or takes them out again.
func (p *preemption) choose(e *engine, r *Request, place queue.Rank, now scheduler.Time) (before int, enough bool) {
	s := &e.roster
	before = len(s.yielding)
	if before == 0 && !s.outranked(place.Priority) || e.slack(r, 0, 0, now) < 0 {
		return before, false // blocks that it could share may go with the victims: then it would be too late
	}
	after := e.imagine(r, now)
	for _, l := range s.yielding {
		after.release(l)
	}
	enough = after.fits()
	if !enough && s.outranked(place.Priority) {
		for _, v := range p.candidates(e, place.Priority, now) {
			after.release(v.lease)
			s.yielding = append(s.yielding, v.lease)
			if enough = after.fits(); enough {
				break
			}
		}
	}
	after.undo(s.yielding)
	return before, enough
}

// candidates returns the victims below priority, in this order: the less urgent first; then the cheaper; then the one
// that came last. The slice is valid until the next call.
func (p *preemption) candidates(e *engine, priority int, now scheduler.Time) []victim {
	p.victims = p.victims[:0]
	for _, l := range e.roster.leases {
		if l.victim() && l.rank.Priority < priority {
			p.victims = append(p.victims, victim{l, e.victimCost(l, now)})
		}
	}
	slices.SortFunc(p.victims, func(a, b victim) int {
		if a.lease.rank.Priority != b.lease.rank.Priority || a.cost == b.cost {
			return cmp.Or(cmp.Compare(a.lease.rank.Priority, b.lease.rank.Priority),
				bySign(b.lease.rank.Before(a.lease.rank)))
		}
		return cmp.Compare(a.cost, b.cost)
	})
	return p.victims
}

func bySign(first bool) int {
	if first {
		return -1
	}
	return 1
}

// whatIf is what one request would find if some leases ended.
type whatIf struct {
	engine    *engine
	now       scheduler.Time
	running   int // sequences that would be left in the engine
	more      int // sequences of the request
	committed int // blocks that overcommitted leases get first
	blocks    int // that the request needs
	pool      kvpool.Imagined
}

func (e *engine) imagine(r *Request, now scheduler.Time) whatIf {
	s := r.shape()
	m := whatIf{engine: e, now: now, running: e.roster.sequences, more: s.sequences(), committed: e.ledger.overcommit}
	if e.ledger.pool != nil {
		m.blocks, m.pool = e.ledger.holds(r, 1), e.ledger.pool.Imagine(e.ledger.reusable(r))
	}
	return m
}

func (m *whatIf) release(l *Lease) {
	l.imaginedGone = true
	m.running -= l.shape.sequences()
	m.committed -= l.overcommit
	if m.engine.ledger.pool != nil {
		m.pool.Release(l.table)
	}
}

func (m *whatIf) fits() bool {
	return (m.engine.ledger.pool == nil || m.pool.Fits(m.blocks+m.committed)) &&
		m.engine.placed(m.running, m.more, m.now)
}

// undo ends the thought; gone are the leases that were imagined to end.
func (m *whatIf) undo(gone []*Lease) {
	for _, l := range gone {
		l.imaginedGone = false
		if m.engine.ledger.pool != nil {
			m.pool.Undo(l.table)
		}
	}
	if m.engine.ledger.pool != nil {
		m.pool.Close()
	}
}

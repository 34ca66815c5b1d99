package gate

import (
	"octet/scheduler"
	"octet/scheduler/queue"
)

// place is where a request stood when it started.
type place struct {
	rank   queue.Rank
	queued scheduler.Time // since when it waited
}

// rank places r among the waiting.
func (m *Model) rank(r *Request, now scheduler.Time) queue.Rank {
	arrival := now
	if !r.Arrived.IsZero() {
		arrival = r.Arrived.Sub(m.engine.origin)
	}
	m.arrivals++
	return queue.Rank{Priority: r.Priority, Arrival: arrival, ID: m.arrivals}
}

// start makes l run for r, which fits, and which paid so much.
func (m *Model) start(l *Lease, r *Request, at place, paid int, now scheduler.Time) {
	m.engine.start(l, r, at, now)
	l.paid = paid
	m.engine.count(r, l)
	m.forecast.fresh = false
	m.totals.admitted++
	m.totals.cachedTokens += uint64(l.computed)
	m.totals.promptTokens += uint64(l.shape.tokens())
}

// pass starts r, which fits, past the waiting: its tenant pays for that as theirs do. By that another tenant's may be
// next, which may fit where the head did not.
func (m *Model) pass(l *Lease, r *Request, rank queue.Rank, now scheduler.Time) {
	rank.Priority = m.waiting.backlog.Level(rank, now)
	if m.waiting.backlog.Len() == 0 || r.Paid {
		m.start(l, r, place{rank, now}, 0, now)
		return
	}
	head := m.waiting.backlog.Top()
	cost := m.engine.cost(r, m.engine.ledger.reuse(r))
	m.waiting.backlog.Bill(&queue.Newcomer{Level: rank.Priority, Tenant: r.Tenant}, cost)
	m.start(l, r, place{rank, now}, cost, now)
	if m.waiting.backlog.Top() != head {
		m.admitWaiting(now)
	}
}

// admitWaiting settles the head of the queue while it fits, or it is too late for it. A later request may go ahead of
// one that fits, see grouping.
func (m *Model) admitWaiting(now scheduler.Time) {
	m.waiting.recheck = false
	m.waiting.backlog.Lift(now)
	for m.waiting.backlog.Len() > 0 {
		w := m.waiting.backlog.Top()
		if w.expires <= now {
			m.refuse(w, m.engine.missed(w, now), now)
			continue
		}
		reuse, ok := m.engine.fits(&w.req, now)
		if m.engine.slack(&w.req, reuse, 0, now) < 0 {
			m.refuse(w, scheduler.ErrDeadline, now)
			continue
		}
		switch {
		case m.engine.behind(w.Level(), w.Tenant):
			m.waiting.recheck = m.engine.shares != nil
			return
		case !ok:
			m.makeRoom(w, now)
			return
		}
		w, reuse = m.next(w, reuse, now)
		cost := 0
		if !w.req.Paid {
			cost = m.engine.cost(&w.req, reuse)
			m.waiting.backlog.Charge(w, cost)
		}
		rank := queue.Rank{Priority: w.Level(), Arrival: w.Rank.Arrival, ID: w.Rank.ID}
		m.waiting.remove(w)
		m.start(w.lease, &w.req, place{rank, w.queued}, cost, now)
		m.settled = append(m.settled, w)
	}
}

// admitIfDue is admitWaiting if no request left, but the head may fit by now, or age makes another one the head.
func (m *Model) admitIfDue(now scheduler.Time) {
	if m.waiting.recheck || m.waiting.backlog.Rises(now) || m.preemption.redo.due(now) {
		m.admitWaiting(now)
	}
}

// makeRoom tells victims that are strictly less urgent than the head of the queue, which does not fit, to give way: as
// few as make it fit, and none if not even all of them would. Those that were told before are counted first.
func (m *Model) makeRoom(head *Waiter, now scheduler.Time) {
	m.waiting.recheck = m.engine.roster.withDeadline > 0 && m.engine.spare(&head.req)
	s, redo := &m.engine.roster, &m.preemption.redo
	before, enough := m.preemption.choose(&m.engine, &head.req, head.Rank, now)
	redo.again = 0
	if enough && len(s.yielding) > before {
		redo.again, enough = question{m, &head.req, now}.affords()
	}
	if !enough {
		s.yielding = s.yielding[:before]
		return
	}
	head.claims = true
	for _, l := range s.yielding[before:] {
		redo.spend(m.engine.lostTime(l, now))
		l.yielding = true
		m.totals.preemptions++
		m.told = append(m.told, l)
	}
}

// wouldPreempt reports whether victims would give way for r at the head of the queue, so that it starts. It changes
// nothing.
func (q question) wouldPreempt(rank queue.Rank) bool {
	s := &q.engine.roster
	before, enough := q.preemption.choose(&q.engine, q.r, rank, q.now)
	if enough && len(s.yielding) > before {
		_, enough = q.affords()
	}
	s.yielding = s.yielding[:before]
	return enough
}

// affords reports whether victims may give way for r, which would be the next to start. If not it returns when that may
// have changed.
func (q question) affords() (again scheduler.Time, ok bool) {
	redo := &q.preemption.redo
	if redo.share == 0 {
		return 0, true
	}
	redo.earn(q.now)
	if redo.left > 0 {
		return 0, true
	}
	wait := q.forecast.nextPlace(&q.engine, q.r, q.now)
	spare := q.engine.slack(q.r, 0, wait, q.now)
	if wait == 0 || spare < 0 {
		return 0, true
	}
	return q.now + min(redo.repaid(), max(spare, redoPause)), false
}

// displace makes a place in a full queue for a request that may wait: the last of the least urgent is refused, if that
// is less urgent. A request that takes a place in the engine from others, or resumes, may be one too many.
func (m *Model) displace(priority int, now scheduler.Time) {
	if m.waiting.full(0) && m.waiting.displaces(priority) {
		m.refuse(m.waiting.evictable.Top().w, scheduler.ErrQueueFull, now)
	}
}

// refuse settles w without a lease: it may come back when it would have had its turn.
func (m *Model) refuse(w *Waiter, reason error, now scheduler.Time) {
	m.waiting.remove(w)
	n := m.waiting.backlog.Newcomer(w.Rank, w.Tenant, now)
	q := question{m, &w.req, now}
	w.refusal = q.refusal(scheduler.Answer{Reason: reason, RetryAfter: m.jitter.later(q.turn(&n))})
	m.settled = append(m.settled, w)
}

// end takes l out of the engine: its blocks cover what is overcommitted first, then the waiting are admitted.
func (m *Model) end(l *Lease, now scheduler.Time) {
	m.engine.roster.remove(l)
	m.engine.roster.occupancy.set(m.engine.company(), now)
	m.engine.ledger.close(l)
	m.forecast.fresh = false
	if !l.yielding {
		m.totals.finished++
		m.waiting.settleCost(&m.engine, l)
		m.engine.rates.observeEnd(l, now)
	}
	m.engine.ledger.cover()
	m.admitWaiting(now)
}

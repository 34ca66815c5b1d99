package gate

import (
	"fmt"
	"math"
	"time"

	"octet/kvpool"
	"octet/scheduler"
	"octet/scheduler/queue"
)

// Model decides for a Gate. It is pure: the time is an argument, and there is no lock, no clock and no goroutine in it.
// What it decides for requests other than the one that a call is about is told by Effects. The same calls give the same
// answers. now never goes back. Not safe for concurrent use.
type Model struct {
	engine     engine
	waiting    waiting
	preemption preemption
	forecast   forecast

	calibration calibration
	totals      totals
	arrivals    uint64
	jitter      jitter
	returning   returning

	settled []*Waiter // for Effects
	told    []*Lease
}

// totals only grow.
type totals struct {
	offered                         uint64 // requests that were asked for, without those that resume
	preemptions, admitted, finished uint64
	cachedTokens, promptTokens      uint64
}

// NewModel returns a Model of an idle engine. Times count from origin; cfg.Now is not used.
func NewModel(cfg Config, origin time.Time) (*Model, error) {
	if cfg.Blocks < 0 || !cfg.possible() {
		return nil, fmt.Errorf(
			"%w: %d blocks, %d running, %d waiting for %v, aging every %v, %v of the time for work done again, "+
				"adapters %+v", scheduler.ErrConfig, cfg.Blocks, cfg.MaxRunning, cfg.MaxWaiting, cfg.MaxWait, cfg.Aging,
			cfg.Redo, cfg.Adapters)
	}
	m := &Model{jitter: cfg.Jitter, returning: returning{cfg.Promised, origin}}
	m.engine.origin, m.engine.maxRunning, m.engine.roster.lowest = origin, cfg.MaxRunning, math.MaxInt
	m.waiting.maxWaiting, m.waiting.maxWait = cfg.MaxWaiting, cfg.MaxWait
	m.engine.shares = cfg.Shares
	m.waiting.backlog = queue.Backlog[*Waiter]{Weight: cfg.Weights, Aging: cfg.Aging, Ceiling: cfg.AgingCeiling}
	m.preemption.redo.allow(cfg.Redo, 0)
	m.engine.roster.grouping.bounds = cfg.Adapters
	if cfg.Blocks > 0 {
		pool, err := kvpool.NewPool(cfg.Blocks, cfg.BlockSize)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", scheduler.ErrConfig, err)
		}
		m.engine.ledger.pool = pool
	}
	return m, nil
}

// Ask decides what becomes of r. Admitted: l runs for it. Waiting: call Queue now, or forget r. Refused: the error is a
// *scheduler.Refusal. In each case r.Reckoned is set.
func (m *Model) Ask(r *Request, l *Lease, now scheduler.Time) (scheduler.State, error) {
	m.admitIfDue(now)
	m.picture(r)
	l.rank = m.rank(r, now)
	q := question{m, r, now}
	head, fits, late := q.atOnce(l.rank)
	starts := fits && !late
	if r.Resume == 0 && (!r.AtOnce || starts) {
		m.totals.offered++
	}
	if starts {
		m.pass(l, r, l.rank, now)
		m.engine.reckon(r, l.reused, l.found, 0, now)
		return scheduler.Admitted, nil
	}
	answer := q.otherwise(l.rank, head, fits)
	m.engine.reckon(r, m.engine.ledger.reuse(r), m.engine.found(now), answer.Estimate, now)
	if answer.State == scheduler.Refused {
		return scheduler.Refused, q.refusal(answer)
	}
	r.Reckoned.Waits = true
	return scheduler.Waiting, nil
}

// Queue has w wait for r, which Ask has let wait at the same moment. l is what w runs on when it is admitted.
func (m *Model) Queue(w *Waiter, r *Request, l *Lease, now scheduler.Time) {
	m.displace(l.rank.Priority, now)
	w.lease = l
	m.waiting.push(w, r, l.rank, &m.engine, now)
	switch {
	case m.waiting.backlog.Top() != w:
	case m.engine.behind(w.Level(), w.Tenant):
		m.waiting.recheck = m.engine.shares != nil
	default:
		m.makeRoom(w, now)
	}
}

// Effects returns the waiters that were settled by the calls since the last Effects, and the leases that were told to
// give way. The slices are valid until the next call of any method.
func (m *Model) Effects() (settled []*Waiter, told []*Lease) {
	settled, told = m.settled, m.told
	m.settled, m.told = m.settled[:0], m.told[:0]
	return settled, told
}

// Expire refuses w, which has waited too long, unless it was settled before.
func (m *Model) Expire(w *Waiter, now scheduler.Time) {
	if w.Queued() {
		m.refuse(w, m.engine.missed(w, now), now)
		m.admitWaiting(now) // a new head may fit where w did not
	}
}

// Abandon forgets w, and ends its lease if it was admitted before.
func (m *Model) Abandon(w *Waiter, now scheduler.Time) {
	switch {
	case w.Queued():
		m.waiting.remove(w)
		m.admitWaiting(now)
	case w.refusal == nil:
		m.Release(w.lease, now)
	}
}

// FirstToken notes that the prefill of l is over. Idempotent.
func (m *Model) FirstToken(l *Lease, now scheduler.Time) {
	if l.released || l.first != 0 {
		return
	}
	m.engine.prefilled(l, now)
	m.admitWaiting(now) // the head may share what was just computed
}

// Grow notes how many tokens l has generated so far.
func (m *Model) Grow(l *Lease, tokens int, now scheduler.Time) {
	if l.released || tokens <= l.generated {
		return
	}
	if l.first == 0 {
		m.engine.prefilled(l, now)
		m.waiting.recheck = true // the head may share what was just computed
	}
	m.engine.grown(l, tokens, now)
	m.admitIfDue(now)
}

// Pin ends l's being a victim. It returns false if l was told to give way before.
func (m *Model) Pin(l *Lease) bool {
	if l.yielding {
		return false
	}
	l.preemptible = false
	return true
}

// Cached corrects the model by how many tokens of l's prompt the engine had cached.
func (m *Model) Cached(l *Lease, tokens int) {
	if !l.released {
		m.calibration.cached(l, tokens, m.engine.ledger.pool)
	}
}

// Complete ends l, whose whole answer came at once. It returns false, and changes nothing, if l was told to give way
// before. cached below 0 is not known.
func (m *Model) Complete(l *Lease, tokens, cached int, now scheduler.Time) bool {
	if l.yielding {
		return false
	}
	if l.released {
		return true
	}
	if l.first == 0 {
		m.engine.concluded(l, tokens, now)
	}
	if cached >= 0 {
		m.Cached(l, cached)
	}
	m.end(l, now)
	return true
}

// Release ends l. Idempotent.
func (m *Model) Release(l *Lease, now scheduler.Time) {
	if !l.released {
		m.end(l, now)
	}
}

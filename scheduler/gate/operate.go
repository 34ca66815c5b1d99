package gate

import (
	"fmt"
	"time"

	"octet/scheduler"
)

// Probe returns what Ask would say now, and changes nothing.
func (m *Model) Probe(r *Request, now scheduler.Time) scheduler.Answer {
	arrivals := m.arrivals
	rank := m.rank(r, now)
	m.arrivals = arrivals
	q := question{m, r, now}
	head, fits, late := q.atOnce(rank)
	if fits && !late {
		return scheduler.Answer{State: scheduler.Admitted}
	}
	return q.otherwise(rank, head, fits)
}

// Reconfigure changes the bounds, see Gate.Reconfigure. It panics on bounds that NewModel would refuse.
func (m *Model) Reconfigure(cfg Config, now scheduler.Time) {
	if !cfg.possible() {
		panic(fmt.Sprintf("scheduler: reconfiguring to %d running, %d waiting for %v, aging every %v, %v of the time "+
			"for work done again", cfg.MaxRunning, cfg.MaxWaiting, cfg.MaxWait, cfg.Aging, cfg.Redo))
	}
	m.engine.maxRunning, m.waiting.maxWaiting, m.waiting.maxWait = cfg.MaxRunning, cfg.MaxWaiting, cfg.MaxWait
	m.waiting.backlog.SetAging(cfg.Aging)
	m.preemption.redo.allow(cfg.Redo, now)
	m.engine.roster.grouping.bounds = cfg.Adapters
	m.admitWaiting(now)
}

// Reconcile corrects the model by what the engine says, see Gate.Reconcile.
func (m *Model) Reconcile(o Observed, now scheduler.Time) {
	if o.MaxAdapters > 0 {
		m.engine.roster.grouping.told = o.MaxAdapters
	}
	b, c := &m.engine.ledger, &m.calibration
	if b.pool == nil {
		return
	}
	c.others = c.compare(&o, b, m.engine.roster.sequences)
	m.withhold()
	m.admitWaiting(now)
}

// Cleared notes that the engine's prefix cache is empty, see Gate.Cleared.
func (m *Model) Cleared() {
	if m.engine.ledger.pool == nil {
		return
	}
	for _, l := range m.engine.roster.leases {
		l.outdated = true
	}
	m.engine.ledger.dropCached()
	m.forecast.fresh = false
}

// Vacancy returns when the next place comes free, and the time between those after it; 0 is unknown.
func (m *Model) Vacancy(now scheduler.Time) (after, every time.Duration) {
	every = m.forecast.interval(&m.engine, now)
	if m.forecast.known && every > 0 {
		return m.forecast.nextEnd(&m.engine, now), every
	}
	return every, every
}

// NextEnd estimates the time until one of the running requests ends, as a Retry-After; 0 is unknown.
func (m *Model) NextEnd(now scheduler.Time) time.Duration {
	return m.jitter.later(m.forecast.nextEnd(&m.engine, now))
}

// Preempting reports whether any lease yields or is overcommitted.
func (m *Model) Preempting() bool {
	return len(m.engine.roster.yielding)+len(m.engine.ledger.overcommitted) > 0
}

// Stats returns the present picture. Without a pool the block counts are 0.
func (m *Model) Stats() scheduler.Stats {
	s := scheduler.Stats{
		Waiting: m.waiting.backlog.Len(), Running: len(m.engine.roster.leases),
		Preempting:  len(m.engine.roster.yielding),
		Preemptions: m.totals.preemptions, Admitted: m.totals.admitted, Finished: m.totals.finished,
		CachedTokens: m.totals.cachedTokens, PromptTokens: m.totals.promptTokens,
	}
	for _, l := range m.engine.ledger.overcommitted {
		if !l.yielding {
			s.Preempting++
		}
	}
	m.engine.ledger.fill(&s)
	return s
}

// Calibration returns how the model stands beside what the engine says.
func (m *Model) Calibration() Calibration {
	c := &m.calibration
	return Calibration{Offered: m.totals.offered, Withheld: m.engine.ledger.withheld.Len(), ModelError: c.off,
		CacheError: c.cacheError}
}

// Check proves the invariants of the model and of its pool, in time linear in all it holds. For tests and diagnosis.
func (m *Model) Check(now scheduler.Time) error {
	if err := m.waiting.backlog.Check(); err != nil {
		return err
	}
	if err := m.engine.ledger.check(m.engine.roster.leases); err != nil {
		return err
	}
	if err := m.engine.roster.check(); err != nil {
		return err
	}
	return m.waiting.checkHead(&m.engine, now)
}

package gate

import (
	"fmt"
	"time"

	"octet/scheduler"
	"octet/scheduler/queue"
)

// longWait is the part of the longest wait from which a request is offered back: one in so many.
const longWait = 4

// atOnce reports whether r would be the next to start, whether it fits now, and whether now is too late for its
// deadlines.
func (m *Model) atOnce(r *Request, place queue.Rank, now scheduler.Time) (head, fits, late bool) {
	if m.engine.ledger.exceeds(r) {
		return false, false, false
	}
	head = true
	if m.waiting.backlog.Len() > 0 {
		n := m.waiting.backlog.Newcomer(place, r.Tenant, now)
		head = m.waiting.backlog.Leads(&n)
	}
	if !head || m.engine.behind(m.waiting.backlog.Level(place, now), r.Tenant) {
		return false, false, false
	}
	reuse, fits := m.engine.fitsAtOnce(r, now)
	return true, fits, fits && m.engine.slack(r, reuse, 0, now) < 0
}

// otherwise is the answer for a request that does not start at once: one that fits is late.
func (m *Model) otherwise(r *Request, place queue.Rank, head, fits bool, now scheduler.Time) scheduler.Answer {
	n := m.waiting.backlog.Newcomer(place, r.Tenant, now)
	switch {
	case m.engine.ledger.exceeds(r):
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrExceedsPool}
	case fits:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrDeadline}
	case r.AtOnce:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull}
	case head && m.wouldPreempt(r, place, now):
		return m.mayWait(r, 0, now)
	case r.Resume == 0 && m.waiting.full(reservedPlaces(m.returning.before(r, now), m.waiting.maxWaiting)) &&
		!m.waiting.displaces(place.Priority):
		return m.queueFull(r, &n, now)
	}
	return m.mayWait(r, m.turn(r, &n, now), now)
}

// queueFull is the answer if the queue has no place: r may come back when it has one, that is when its head starts, and
// r's deadline leaves time to wait in it.
func (m *Model) queueFull(r *Request, n *queue.Newcomer, now scheduler.Time) scheduler.Answer {
	next, as := r, n
	if m.waiting.backlog.Len() > 0 {
		w := m.waiting.backlog.Top()
		next, as = &w.req, &queue.Newcomer{Rank: w.Rank, Tenant: w.Tenant, Level: w.Level()}
	}
	vacancy := m.turn(next, as, now)
	if a := m.mayWait(r, m.turn(r, n, now), now); a.State == scheduler.Refused {
		if a.RetryAfter > 0 {
			a.Reason, a.RetryAfter = scheduler.ErrQueueFull, max(a.RetryAfter, m.jitter.later(vacancy))
		}
		return a
	}
	return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull, Estimate: vacancy,
		RetryAfter: m.jitter.later(vacancy)}
}

// mayWait says whether a request whose turn comes after wait may wait for it.
func (m *Model) mayWait(r *Request, wait time.Duration, now scheduler.Time) scheduler.Answer {
	late := m.engine.slack(r, m.engine.ledger.reuse(r), wait, now)
	maxWait := m.waiting.maxWait
	longest := maxWait
	if n := m.returning.before(r, now); n > 0 && maxWait > 0 {
		longest -= reservedTime(n, maxWait, m.forecast.interval(&m.engine, now))
	}
	tooLong := maxWait > 0 && wait > longest && r.Resume == 0
	switch {
	case late < 0 && late+wait < 0: // not even with an empty queue
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrDeadline}
	case late < 0:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrDeadline, Estimate: wait,
			RetryAfter: m.jitter.later(-late)}
	case tooLong:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull, Estimate: wait,
			RetryAfter: m.jitter.later(wait - longest)}
	case r.OfferBack && maxWait > 0 && wait > maxWait/longWait, r.Sooner > 0 && wait >= r.Sooner:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull, Estimate: wait,
			RetryAfter: m.jitter.later(wait), Offered: true}
	}
	return scheduler.Answer{State: scheduler.Waiting, Estimate: wait}
}

// turn estimates the time until r, which comes as n, starts; 0 is unknown.
func (m *Model) turn(r *Request, n *queue.Newcomer, now scheduler.Time) time.Duration {
	return m.forecast.turn(&m.engine, &m.waiting, r, n, now)
}

// jitter spreads times: it draws from [0,1), or is nil.
type jitter func() float64

// later makes a Retry-After of the estimate d; 0 stays unknown. It is an eighth longer than it takes, so that a client
// does not come back just before, and up to a quarter more, so that clients that were refused together do not come
// together.
func (j jitter) later(d time.Duration) time.Duration {
	d += d / 8
	if j != nil {
		d += time.Duration(float64(d) / 4 * j())
	}
	return min(d, queue.LongestRetry)
}

// refusal returns a as an error.
func (m *Model) refusal(r *Request, a scheduler.Answer, now scheduler.Time) *scheduler.Refusal {
	no := &scheduler.Refusal{Reason: a.Reason, RetryAfter: a.RetryAfter, Wait: a.Estimate, Offered: a.Offered,
		Detail: fmt.Sprintf("%s: %d prompt and %d new tokens at priority %d", r.ID,
			r.PromptTokens+r.Further.Tokens+r.Resume, r.MaxNew, r.Priority)}
	if no.RetryAfter > 0 {
		no.Every = m.forecast.interval(&m.engine, now)
		no.Room = m.waiting.room(no.Every)
	}
	return no
}

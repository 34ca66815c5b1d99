package gate

import (
	"fmt"
	"time"

	"octet/scheduler"
	"octet/scheduler/queue"
)

// longWait is the part of the longest wait from which a request is offered back: one in so many.
const longWait = 4

// question is what becomes of a request at a time.
type question struct {
	*Model
	r   *Request
	now scheduler.Time
}

// atOnce reports whether r would be the next to start, whether it fits now, and whether now is too late for its
// deadlines.
func (q question) atOnce(place queue.Rank) (head, fits, late bool) {
	if q.engine.ledger.exceeds(q.r) {
		return false, false, false
	}
	head = true
	if q.waiting.backlog.Len() > 0 {
		n := q.waiting.backlog.Newcomer(place, q.r.Tenant, q.now)
		head = q.waiting.backlog.Leads(&n)
	}
	if !head || q.engine.behind(q.waiting.backlog.Level(place, q.now), q.r.Tenant) {
		return false, false, false
	}
	reuse, fits := q.engine.fitsAtOnce(q.r, q.now)
	return true, fits, fits && q.engine.slack(q.r, reuse, 0, q.now) < 0
}

// otherwise is the answer for a request that does not start at once: one that fits is late.
func (q question) otherwise(place queue.Rank, head, fits bool) scheduler.Answer {
	n := q.waiting.backlog.Newcomer(place, q.r.Tenant, q.now)
	switch {
	case q.engine.ledger.exceeds(q.r):
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrExceedsPool}
	case fits:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrDeadline}
	case q.r.AtOnce:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull}
	case head && q.wouldPreempt(place):
		return q.mayWait(0)
	case q.r.Resume == 0 && q.waiting.full(reservedPlaces(q.returning.before(q.r, q.now), q.waiting.maxWaiting)) &&
		!q.waiting.displaces(place.Priority):
		return q.queueFull(&n)
	}
	return q.mayWait(q.turn(&n))
}

// queueFull is the answer if the queue has no place: r may come back when it has one, that is when its head starts, and
// r's deadline leaves time to wait in it.
func (q question) queueFull(n *queue.Newcomer) scheduler.Answer {
	next, as := q.r, n
	if q.waiting.backlog.Len() > 0 {
		w := q.waiting.backlog.Top()
		next, as = &w.req, &queue.Newcomer{Rank: w.Rank, Tenant: w.Tenant, Level: w.Level()}
	}
	vacancy := question{q.Model, next, q.now}.turn(as)
	if a := q.mayWait(q.turn(n)); a.State == scheduler.Refused {
		if a.RetryAfter > 0 {
			a.Reason, a.RetryAfter = scheduler.ErrQueueFull, max(a.RetryAfter, q.jitter.later(vacancy))
		}
		return a
	}
	return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull, Estimate: vacancy,
		RetryAfter: q.jitter.later(vacancy)}
}

// mayWait says whether a request whose turn comes after wait may wait for it.
func (q question) mayWait(wait time.Duration) scheduler.Answer {
	late := q.engine.slack(q.r, q.engine.ledger.reuse(q.r), wait, q.now)
	maxWait := q.waiting.maxWait
	longest := maxWait
	if n := q.returning.before(q.r, q.now); n > 0 && maxWait > 0 {
		longest -= reservedTime(n, maxWait, q.forecast.interval(&q.engine, q.now))
	}
	tooLong := maxWait > 0 && wait > longest && q.r.Resume == 0
	switch {
	case late < 0 && late+wait < 0: // not even with an empty queue
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrDeadline}
	case late < 0:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrDeadline, Estimate: wait,
			RetryAfter: q.jitter.later(-late)}
	case tooLong:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull, Estimate: wait,
			RetryAfter: q.jitter.later(wait - longest)}
	case q.r.OfferBack && maxWait > 0 && wait > maxWait/longWait, q.r.Sooner > 0 && wait >= q.r.Sooner:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull, Estimate: wait,
			RetryAfter: q.jitter.later(wait), Offered: true}
	}
	return scheduler.Answer{State: scheduler.Waiting, Estimate: wait}
}

// turn estimates the time until r, which comes as n, starts; 0 is unknown.
func (q question) turn(n *queue.Newcomer) time.Duration {
	return q.forecast.turn(&q.engine, &q.waiting, q.r, n, q.now)
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
func (q question) refusal(a scheduler.Answer) *scheduler.Refusal {
	no := &scheduler.Refusal{Reason: a.Reason, RetryAfter: a.RetryAfter, Wait: a.Estimate, Offered: a.Offered,
		Detail: fmt.Sprintf("%s: %d prompt and %d new tokens at priority %d", q.r.ID,
			q.r.PromptTokens+q.r.Further.Tokens+q.r.Resume, q.r.MaxNew, q.r.Priority)}
	if no.RetryAfter > 0 {
		no.Every = q.forecast.interval(&q.engine, q.now)
		no.Room = q.waiting.room(no.Every)
	}
	return no
}

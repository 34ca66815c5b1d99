package gateway

import (
	"errors"
	"time"

	"octet/engine"
	"octet/gateway/apierr"
)

// What pays for a retry, as octet_retries_total calls it.
const (
	paidByNothing = "free"  // no engine worked on the attempt that failed
	paidByDeath   = "death" // its engine died with it
	paidByBudget  = "budget"
	paidByNobody  = "refused" // there was no retry
)

// mayRetry says whether another replica may be tried for a request of which its client has seen nothing.
func (x *exchange) mayRetry() bool { return !x.relay.Begun() && x.mayTry() }

// mayTry says whether another attempt may be made after the last one. Where no engine has worked it costs nothing; each
// request that an engine's death struck goes on once; all else is on the budget.
func (x *exchange) mayTry() bool {
	by := paidByNobody
	switch now := x.Now(); {
	case x.free:
		by = paidByNothing
	case x.struck && !x.spared && x.s.retries.share.Load() > 0: // no share is no retries
		by, x.spared = paidByDeath, true
		if x.shows { // a storm of engines that have answered nothing yet stays within the share
			x.s.retries.note(now)
		}
	case x.busy && x.othersIdle(now):
		by = paidByNothing
		x.s.retries.note(now)
	case x.s.retries.take(now):
		by = paidByBudget
	}
	x.s.metrics.Retried(by)
	return by != paidByNobody
}

// othersIdle reports whether a replica of the specialist has not said lately that it is busy.
func (x *exchange) othersIdle(now time.Time) bool {
	s := x.sp.Snapshot()
	hosts := s.Available()
	for h := range hosts.All() {
		if !s.Replica(h).Busy(now) {
			return true
		}
	}
	return false
}

// learns notes what an attempt that ended with err means for those to come, before its turn gives back what it holds.
func (x *exchange) learns(err error) {
	t := &x.turn
	x.free = x.free || errors.Is(err, engine.ErrConnect) || errors.Is(err, engine.ErrLocal) // nothing was sent
	x.struck, x.shows, x.busy = false, false, errors.Is(err, errEngineBusy)
	switch {
	case err == nil:
		t.place.Lives()
	case x.busy:
		t.rep.Fleet.OnBusy(x.Now(), retryAfterOf(err))
	case causeOf(err) == byReplica:
		x.struck, x.shows = t.place.Struck(x.Now())
	}
}

// retryAfterOf returns the time that an engine asked to be left alone.
func retryAfterOf(err error) time.Duration {
	var said *apierr.Error
	if errors.As(err, &said) {
		return said.RetryAfter
	}
	return 0
}

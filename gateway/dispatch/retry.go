package dispatch

import (
	"errors"
	"time"

	"octet/engine"
	"octet/gateway/fault"
	"octet/routing/fleet"
)

// What pays for a retry, as octet_retries_total calls it.
const (
	paidByNothing = "free"  // no engine worked on the attempt that failed
	paidByDeath   = "death" // its engine died with it
	paidByBudget  = "budget"
	paidByNobody  = "refused" // there was no retry
)

// retry is what the last attempt means for another one.
type retry struct {
	free   bool // it failed before any engine worked for it: trying elsewhere costs nothing
	struck bool // it failed as its engine died
	first  bool // it is the first request that this death struck
	spared bool // one that was struck has been followed by another beside the budget
	busy   bool // its engine refused it as one too many
}

// learn notes what a turn that ends with err means for attempts to come, before it gives back what it holds.
func (r *retry) learn(err error, t *turn, now func() time.Time) {
	r.free = r.free || errors.Is(err, engine.ErrConnect) || errors.Is(err, engine.ErrLocal) || // nothing was sent
		errors.Is(err, fault.ErrShorter) // nothing was computed
	r.struck, r.first, r.busy = false, false, errors.Is(err, fault.ErrEngineBusy)
	switch {
	case err == nil:
		t.place.Lives()
	case r.busy:
		t.rep.Fleet.OnBusy(now(), fault.RetryAfter(err))
	case fault.CauseOf(err) == fault.ByReplica:
		r.struck, r.first = t.place.Struck(now())
	}
}

// payer returns what pays for another attempt now.
func (r *retry) payer(b *Budget, s *fleet.Snapshot, now time.Time) string {
	switch {
	case r.free:
		return paidByNothing
	case r.struck && !r.spared && b.share.Load() > 0: // no share is no retries
		r.spared = true
		if r.first { // a storm of engines that have answered nothing yet stays within the share
			b.note(now)
		}
		return paidByDeath
	case r.busy && anyIdle(s, now):
		b.note(now)
		return paidByNothing
	case b.Take(now):
		return paidByBudget
	}
	return paidByNobody
}

// anyIdle reports whether a replica of the specialist has not said lately that it is busy.
func anyIdle(s *fleet.Snapshot, now time.Time) bool {
	hosts := s.Available()
	for h := range hosts.All() {
		if !s.Replica(h).Busy(now) {
			return true
		}
	}
	return false
}

// mayRetry reports whether another replica may be tried for a request of which its client has seen nothing.
func (d *Dispatch) mayRetry() bool { return !d.Relay.Begun() && d.mayTry() }

// mayTry reports whether another attempt may be made after the last one. Where no engine has worked it costs nothing;
// each request that an engine's death struck goes on once; all else is on the budget.
func (d *Dispatch) mayTry() bool {
	by := d.retry.payer(d.Shared.Retries, d.Plan.Specialist.Snapshot(), d.Timer.Now())
	d.Shared.Metrics.Retried(by)
	return by != paidByNobody
}

package gateway

import (
	"time"

	"golang.org/x/time/rate"
)

// SharedRates counts what all gateways of a cell let through. An error says that it cannot be asked.
type SharedRates interface {
	// Take takes n from a bucket; a wait of more than 0 says that nothing was taken, and when it could be.
	Take(bucket string, perSecond float64, burst, n int) (wait time.Duration, err error)
	// Spend takes n that are gone already.
	Spend(bucket string, perSecond float64, burst, n int) error
}

// Sharing is where tenants' rates are counted. The zero value is here alone.
type Sharing struct {
	Rates    SharedRates // nil: every gateway counts for itself
	Gateways int         // that share a rate: each goes by its part of it while Rates cannot be asked
}

// quota is one tenant's bucket. Nil is unlimited.
type quota struct {
	own    *rate.Limiter // all of it, or this gateway's part where it is shared
	shared SharedRates   // or nil
	bucket string
	per    float64 // second
	burst  int
}

func newQuota(bucket string, perSecond float64, burst int, sharing Sharing) *quota {
	if perSecond <= 0 {
		return nil
	}
	q := &quota{shared: sharing.Rates, bucket: bucket, per: perSecond, burst: max(burst, int(perSecond), 1)}
	parts := 1
	if q.shared != nil {
		parts = max(sharing.Gateways, 1)
	}
	q.own = rate.NewLimiter(rate.Limit(perSecond/float64(parts)), max(q.burst/parts, 1))
	return q
}

// keep has what an earlier quota of the same rate counted go on counting.
func (q *quota) keep(old *quota) {
	if q != nil && old != nil && q.own.Limit() == old.own.Limit() && q.own.Burst() == old.own.Burst() {
		q.own = old.own
	}
}

// take takes n, or all that fits where that is less, if it is there; else it says how long until it would be. Where the
// shared count cannot be asked, it is this gateway's own part that counts.
func (q *quota) take(now time.Time, n int) (wait time.Duration, ok bool) {
	if q == nil {
		return 0, true
	}
	if q.shared != nil {
		if wait, err := q.shared.Take(q.bucket, q.per, q.burst, min(n, q.burst)); err == nil {
			return wait, wait == 0
		}
	}
	r := q.own.ReserveN(now, min(n, q.own.Burst()))
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return wait, false
	}
	return 0, r.OK()
}

// mostOwed bounds a debt, in bursts.
const mostOwed = 1024

// spend takes n that are gone already; the balance may go below zero, by mostOwed bursts at once. Below 0 it gives back
// what take took too much of; a shared count takes nothing back.
func (q *quota) spend(now time.Time, n int) {
	if q == nil || n == 0 || q.shared != nil &&
		(n < 0 || q.shared.Spend(q.bucket, q.per, q.burst, min(n, q.burst)) == nil) {
		return
	}
	burst := q.own.Burst()
	for n = min(n, mostOwed*burst); n > burst; n -= burst {
		q.own.ReserveN(now, burst) // more than a burst at once is not taken at all
	}
	q.own.ReserveN(now, n)
}

// takes is what take takes of n.
func (q *quota) takes(n int) int {
	if q == nil {
		return 0
	}
	if q.shared != nil {
		return min(n, q.burst)
	}
	return min(n, q.own.Burst())
}

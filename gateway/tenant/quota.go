package tenant

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"octet/gateway/tenant/budget"
)

// SharedRates counts what all gateways of a cell admit. An error means that the count is not available.
type SharedRates interface {
	// Take takes n from a bucket. A wait above zero means that nothing was taken, and when it could be.
	Take(bucket string, perSecond float64, burst, n int) (wait time.Duration, err error)
	// Spend takes n that have been used already; the balance may go below zero. A negative n gives back.
	Spend(bucket string, perSecond float64, burst, n int) error
}

// Sharing says where tenants' rates and budgets are counted. The zero value counts in this gateway alone.
type Sharing struct {
	Ledger   *budget.Ledger // of budgets; nil counts those of each Table anew
	Rates    SharedRates    // nil if every gateway counts for itself
	Gateways int            // that share a rate; each uses its part of it while Rates is not available
	// Told is called with what each tenant uses, for gateways that count for themselves and hear of the others'; nil if
	// there are none, or Rates counts for all.
	Told func(tenant string, u Used)
	// Parts is into how many parts a rate is cut, of which one is this gateway's, while it cannot hear of the others'
	// use; up to 1 is whole. nil if there are no others.
	Parts *atomic.Int32
}

// quota is one tenant's bucket. A nil quota has no limit.
type quota struct {
	own    *rate.Limiter // the whole rate, or this gateway's part of a shared one
	shared SharedRates   // nil if the rate is not shared
	bucket string
	per    float64 // tokens a second
	burst  int
	parts  *atomic.Int32 // see Sharing; nil if the rate is shared
}

func newQuota(bucket string, perSecond float64, burst int, sharing Sharing) *quota {
	if perSecond <= 0 {
		return nil
	}
	q := &quota{shared: sharing.Rates, bucket: bucket, per: perSecond, burst: max(burst, int(perSecond), 1)}
	parts := 1
	if q.shared != nil {
		parts = max(sharing.Gateways, 1)
	} else {
		q.parts = sharing.Parts
	}
	q.own = rate.NewLimiter(rate.Limit(perSecond/float64(parts)), max(q.burst/parts, 1))
	return q
}

// keep continues the count of an earlier quota of the same rate.
func (q *quota) keep(old *quota) {
	if q != nil && old != nil && q.own.Limit() == old.own.Limit() && q.own.Burst() == old.own.Burst() {
		q.own = old.own
	}
}

// take is charge for what is never given back.
func (q *quota) take(now time.Time, n int) (wait time.Duration, ok bool) {
	_, wait, ok = q.charge(now, n)
	return wait, ok
}

// charge takes n, at most a whole burst, and returns how much it took; or nothing, and the wait until it could. While
// the shared count is not available it goes by this gateway's own part, whose burst is smaller.
func (q *quota) charge(now time.Time, n int) (taken int, wait time.Duration, ok bool) {
	if q == nil {
		return 0, 0, true
	}
	if q.shared != nil {
		n := min(n, q.burst)
		if wait, err := q.shared.Take(q.bucket, q.per, q.burst, n); err == nil {
			return n, wait, wait == 0
		}
	}
	r := q.own.ReserveN(now, min(q.weight()*min(n, q.own.Burst()), q.own.Burst()))
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return 0, wait, false
	}
	return q.takes(n), 0, r.OK()
}

// weight is how many times what is used here counts: as much as it is of this gateway's part.
func (q *quota) weight() int {
	if q.parts == nil {
		return 1
	}
	return max(1, int(q.parts.Load()))
}

// mostOwed bounds a debt, in bursts.
const mostOwed = 1024

// spend takes n that have been used already; the balance may go below zero, by mostOwed bursts at once. A negative n
// returns what take took too much.
func (q *quota) spend(now time.Time, n int) {
	if q == nil || n == 0 || q.shared != nil &&
		q.shared.Spend(q.bucket, q.per, q.burst, min(n, mostOwed*q.burst)) == nil {
		return
	}
	burst := q.own.Burst()
	for n = min(q.weight()*n, mostOwed*burst); n > burst; n -= burst {
		q.own.ReserveN(now, burst) // a Limiter takes nothing at all of more than a burst
	}
	q.own.ReserveN(now, n)
}

// takes returns how much of n is taken of this gateway's own part.
func (q *quota) takes(n int) int { return min(n, max(1, q.own.Burst()/q.weight())) }

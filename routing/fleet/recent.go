package fleet

import (
	"math"
	"time"
)

// recent is the work that was sent to a replica, fading by the second. Of the zero value nothing was sent.
type recent struct {
	tokens, requests float64 // as they count in second
	second           int64   // of the last request, by the wall clock
}

// recentSeconds is the time after which work that was sent to a replica counts for 1/e.
const recentSeconds = 20

// fading is what is left of work after so many seconds; behind its end nothing is.
var fading = func() (left [13 * recentSeconds]float64) {
	for s := range left {
		left[s] = math.Exp(-float64(s) / recentSeconds)
	}
	return left
}()

// add notes a request with so many tokens to compute that is sent at now.
func (r *recent) add(tokens int, now time.Time) {
	left := r.left(now.UnixNano())
	r.tokens, r.requests = r.tokens*left+float64(tokens), r.requests*left+1
	r.second = max(r.second, now.Unix())
}

// left returns what part of r still counts at now, in nanoseconds by the wall clock.
func (r *recent) left(now int64) float64 {
	age := now/int64(time.Second) - r.second
	if age <= 0 {
		return 1
	}
	if age >= int64(len(fading)) {
		return 0
	}
	return fading[age]
}

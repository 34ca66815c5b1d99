package fleet

import (
	"math"
	"time"
)

// recentMemory is the time after which work that was sent to a replica counts for 1/e.
const recentMemory = 20 * time.Second

// recent is the work that was sent to a replica, each part fading since it was sent. The zero recent is none.
type recent struct {
	tokens, requests float64 // as they count at time at
	at               int64   // nanoseconds by the wall clock
}

// add notes a request with so many tokens to compute that is sent at now.
func (r *recent) add(tokens int, now time.Time) {
	left := r.left(now)
	r.tokens, r.requests = r.tokens*left+float64(tokens), r.requests*left+1
	r.at = max(r.at, now.UnixNano())
}

// left returns what part of r still counts at now.
func (r *recent) left(now time.Time) float64 {
	age := now.UnixNano() - r.at
	if age <= 0 || r.requests == 0 {
		return 1
	}
	return math.Exp(-float64(age) / float64(recentMemory))
}

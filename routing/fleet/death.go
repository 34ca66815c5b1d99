package fleet

import (
	"sync"
	"sync/atomic"
	"time"
)

// deaths tells requests that were struck together, by the death of their engine, from those that failed one by one: an
// engine dies when it fails a request after it has answered others, or before it has answered any, and what it had in
// flight at that moment dies with it. So an engine that fails everything dies once, and one that fails every other
// request dies no more often than once in an interval.
type deaths struct {
	dead atomic.Bool // no request that was sent after the last death has been answered

	mu   sync.Mutex
	last time.Time // when the first request of those that the last death struck was lost; guarded by mu
}

// struck returns true if a request that was sent at began, and was lost now, was lost by a death, and whether it is the
// first one that this death struck. every is the least time between two deaths that count.
func (d *deaths) struck(began, now time.Time, every time.Duration) (struck, first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if began.Before(d.last) {
		return true, false
	}
	if d.dead.Load() || !d.last.IsZero() && now.Sub(d.last) < every {
		return false, false
	}
	d.last = now
	d.dead.Store(true)
	return true, true
}

// lives notes that a request that was sent at began is answered.
func (d *deaths) lives(began time.Time) {
	if !d.dead.Load() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if began.After(d.last) {
		d.dead.Store(false)
	}
}

// Lives notes that the replica answers the request. FirstToken says so, too.
func (f *Flight) Lives() {
	if f.replica != nil && f.begun {
		f.replica.deaths.lives(f.began)
	}
}

// Struck returns true if the request, which its replica has failed now, was in flight when the replica's engine died,
// and whether it is the first one that showed it.
func (f *Flight) Struck(now time.Time) (struck, first bool) {
	if f.replica == nil || !f.begun {
		return false, false
	}
	return f.replica.deaths.struck(f.began, now, f.replica.terms.Load().DeathInterval)
}

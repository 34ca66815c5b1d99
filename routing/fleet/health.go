package fleet

import (
	"sync/atomic"
	"time"
)

// watch is what a Monitor lends to a replica that it watches.
type watch struct {
	unhealthy int           // failures in a row that mark down
	healthy   int           // successes in a row that bring back
	interval  time.Duration // between probes
	next      atomic.Int64  // unix nanoseconds of the next one
	wake      chan struct{} // buffered 1: asks for a probe soon
}

// OnSuccess says that the replica answered as it should. It costs four atomic loads while all is well.
func (r *Replica) OnSuccess() {
	r.busy.idle()
	r.suspects.clear()
	if r.streak.Load() != 0 || !r.Healthy() {
		r.hear(true)
	}
}

// OnConnectFailure says that the replica could not be reached. It counts like a failed probe and asks for a probe soon.
// Without a Monitor it does nothing: then only the breaker keeps requests away.
func (r *Replica) OnConnectFailure() {
	w := r.watch.Load()
	if w == nil {
		return
	}
	r.hear(false)
	select {
	case w.wake <- struct{}{}:
	default: // one is on its way
	}
}

// hear takes one sign of life or its absence.
func (r *Replica) hear(ok bool) {
	w := r.watch.Load()
	if w == nil {
		return
	}
	if r.weigh(w, ok) && r.turned != nil {
		r.turned(r, ok)
	}
}

// weigh changes the replica's health where enough signs in a row say so, and reports whether it did.
func (r *Replica) weigh(w *watch, ok bool) (changed bool) {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	before := r.Healthy()
	switch {
	case r.isGone():
	case ok:
		r.heal(w)
	default:
		r.passed = 0
		if r.streak.Add(1) >= int64(w.unhealthy) {
			r.states.down.set(r.spec.Host)
		}
	}
	return r.Healthy() != before
}

// heal needs r.stateMu.
func (r *Replica) heal(w *watch) {
	r.streak.Store(0)
	if r.Healthy() {
		return
	}
	if r.passed++; r.passed >= w.healthy {
		r.passed = 0
		r.states.down.clear(r.spec.Host)
	}
}

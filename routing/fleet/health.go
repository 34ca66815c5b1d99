package fleet

import (
	"sync/atomic"
	"time"
)

// watch is what a Monitor gives to a replica that it watches.
type watch struct {
	unhealthy int           // failures in a row that mark down
	healthy   int           // successes in a row that bring back
	interval  time.Duration // between probes
	next      atomic.Int64  // unix nanoseconds of the next one
	wake      chan struct{} // buffered 1: asks for a probe soon
}

// OnSuccess notes that the replica answered as it should. It costs five atomic loads while all is well.
func (r *Replica) OnSuccess() {
	r.busy.clear()
	r.suspects.clear()
	if r.streak.Load() != 0 || !r.Healthy() || !r.Proved() {
		r.recordProbe(true)
	}
}

// OnConnectFailure notes that the replica could not be reached. It counts like a failed probe and asks for a probe
// soon. Without a Monitor it does nothing: then only the breaker keeps requests away.
func (r *Replica) OnConnectFailure() {
	r.recordProbe(false)
	r.ProbeSoon()
}

// ProbeSoon asks for a probe soon, for an answer that ended as answers of dead engines do. It says nothing of the
// replica itself. Without a Monitor it does nothing.
func (r *Replica) ProbeSoon() {
	w := r.watch.Load()
	if w == nil {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default: // one is on its way
	}
}

// recordProbe counts one success or failure of a probe or a connection.
func (r *Replica) recordProbe(ok bool) {
	w := r.watch.Load()
	if w == nil {
		return
	}
	if r.updateHealth(w, ok) && r.onHealthChange != nil {
		r.onHealthChange(r, ok)
	}
}

// updateHealth changes the replica's health if enough results in a row call for it, and returns true if it did.
func (r *Replica) updateHealth(w *watch, ok bool) (changed bool) {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	before := r.Healthy()
	switch {
	case r.isGone():
	case ok:
		r.recordSuccess(w)
	default:
		r.passed = 0
		if r.streak.Add(1) >= int64(w.unhealthy) {
			r.states.down.Set(r.spec.Host)
		}
	}
	return r.Healthy() != before
}

// recordSuccess brings the replica back after enough successes in a row. The caller holds stateMu.
func (r *Replica) recordSuccess(w *watch) {
	r.streak.Store(0)
	r.proved.Store(true)
	if r.Healthy() {
		return
	}
	if r.passed++; r.passed >= w.healthy {
		r.passed = 0
		r.states.down.Clear(r.spec.Host)
	}
}

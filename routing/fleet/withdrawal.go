package fleet

import "time"

// Reasons why a replica is withdrawn, or not any more.
const (
	WhyShutdown = "shutdown event"        // its engine has announced that it goes away
	WhySilence  = "events stopped"        // the connection that brings its cache events is lost
	WhyEvents   = "events"                // those of a later start have come, or the connection is back
	WhyProbes   = "probes"                // they are good
	WhyOperator = "undrained by operator" // DELETE /admin/drain/{replica}
	WhyServes   = "its engine serves"     // it says so, after it has said that it does not
	WhyLeft     = "found no more"         // the source that has found it names it no more
	WhyFound    = "found again"           // its source names it again
)

// withdrawal is why no new request is sent to a replica, whatever its probes say. With the zero value it is not
// withdrawn.
type withdrawal struct {
	shutdown time.Time // when the engine announced that it goes away; zero if it did not
	failed   bool      // a probe has failed since
	passed   int       // good probes in a row since that one
	silent   bool      // its events have stopped
	said     Standing  // of the engine, by itself
	left     bool      // it is found no more
	resting  bool      // it is being put to sleep
}

func (w *withdrawal) holds() bool { return w.why() != Serving }

// why returns the first reason that holds.
func (w *withdrawal) why() Standing {
	switch {
	case !w.shutdown.IsZero():
		return shutting
	case w.left:
		return left
	case w.said != Serving:
		return w.said
	case w.resting:
		return resting
	case w.silent:
		return quiet
	}
	return Serving
}

// ShutDown notes that the replica's engine announced at that time, by the engine's clock, that it goes away. No new
// request is sent to it until Return, until a probe has failed and enough have been good after that, or until probes
// have been good for as long as Terms.ShutdownHold says. Requests in flight are not touched. An announcement that is
// older than that is history, read again, and counts for nothing.
func (r *Replica) ShutDown(at, now time.Time) {
	if at.IsZero() || at.After(now) {
		at = now
	}
	if now.Sub(at) >= r.terms.Load().ShutdownHold {
		return
	}
	r.rewrite(WhyShutdown, func(w *withdrawal) {
		*w = w.returned()
		w.shutdown = at
	})
}

// Return ends what ShutDown began: the engine has started anew, or serves all the same.
func (r *Replica) Return(why string) {
	r.rewrite(why, func(w *withdrawal) { *w = w.returned() })
}

// returned is w without what ShutDown began.
func (w *withdrawal) returned() withdrawal {
	return withdrawal{silent: w.silent, said: w.said, left: w.left, resting: w.resting}
}

// Undrain is what an operator says of a replica that serves: it ends a drain and what ShutDown began.
func (r *Replica) Undrain() {
	r.SetDraining(false)
	r.Return(WhyOperator)
}

// SetSilent notes whether the events of the replica have stopped. While they have, no new request is sent to it.
func (r *Replica) SetSilent(on bool) {
	why := WhySilence
	if !on {
		why = WhyEvents
	}
	r.rewrite(why, func(w *withdrawal) { w.silent = on })
}

// SetLeft notes whether the replica is found no more. While it is not, no new request is sent to it; requests in flight
// are not touched.
func (r *Replica) SetLeft(on bool) {
	why := WhyLeft
	if !on {
		why = WhyFound
	}
	r.rewrite(why, func(w *withdrawal) { w.left = on })
}

// Left returns true if the replica is found no more, and is kept for a while.
func (r *Replica) Left() bool { return r.withdrawn().left }

// probed counts a probe of a replica whose engine has announced that it goes away. Answers to requests do not count:
// an engine that drains answers what it has.
func (r *Replica) probed(ok bool, now time.Time) {
	if !r.Withdrawn() {
		return
	}
	healthy := 1
	if w := r.watch.Load(); w != nil {
		healthy = w.healthy
	}
	r.rewrite(WhyProbes, func(w *withdrawal) {
		switch {
		case w.shutdown.IsZero():
		case !ok:
			w.failed, w.passed = true, 0
		default:
			w.passed++
			if w.failed && w.passed >= healthy || now.Sub(w.shutdown) >= r.terms.Load().ShutdownHold {
				*w = w.returned()
			}
		}
	})
}

// withdrawn returns why the replica is withdrawn, if it is.
func (r *Replica) withdrawn() withdrawal {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	return r.withdrawal
}

// rewrite changes the replica's withdrawal, and reports if it begins or ends by that.
func (r *Replica) rewrite(why string, change func(*withdrawal)) {
	if began, ended := r.change(change); (began || ended) && r.onWithdrawal != nil {
		r.onWithdrawal(r, began, why)
	}
}

func (r *Replica) change(change func(*withdrawal)) (began, ended bool) {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	if r.isGone() {
		return false, false
	}
	before := r.withdrawal.holds()
	change(&r.withdrawal)
	now, why := r.withdrawal.holds(), r.withdrawal.why()
	r.why.Store(&why)
	if now {
		r.states.withdrawn.Set(r.spec.Host)
	} else {
		r.states.withdrawn.Clear(r.spec.Host)
	}
	return !before && now, before && !now
}

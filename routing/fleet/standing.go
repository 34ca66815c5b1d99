package fleet

// Standing is what an engine that answers says of itself, and why no request is sent to its replica.
type Standing string

// Standings. Of all but the first, no request is sent to the replica.
const (
	Serving Standing = ""
	Asleep  Standing = "asleep"       // it has put its model aside, and its prefix cache is lost
	Loading Standing = "loading"      // its model is not loaded yet
	NoModel Standing = "model_absent" // it serves other models
	// the handshake with it fails: its certificate, or the gateway's, is not accepted
	Untrusted Standing = "untrusted"
	resting   Standing = "resting"  // see Replica.Rest
	shutting  Standing = "shutdown" // see Replica.ShutDown
	quiet     Standing = "silent"   // see Replica.SetSilent
	left      Standing = "left"     // see Replica.SetLeft
	draining  Standing = "draining" // an operator's, see Replica.SetDraining
	down      Standing = "down"     // it does not answer as it should
)

// Says notes what the engine of the replica says of itself. It returns what it said before.
func (r *Replica) Says(now Standing) (before Standing) {
	why := string(now)
	if now == Serving {
		why = WhyServes
	}
	r.rewrite(why, func(w *withdrawal) { before, w.said = w.said, now })
	return before
}

// Said returns what the engine of the replica says of itself.
func (r *Replica) Said() Standing { return r.withdrawn().said }

// Why returns why no request is sent to the replica; empty if it is Available.
func (r *Replica) Why() Standing {
	switch {
	case r.Draining():
		return draining
	case r.Withdrawn():
		if why := r.why.Load(); why != nil {
			return *why
		}
	case !r.Healthy():
		return down
	}
	return Serving
}

// Rest takes the replica out of rotation so that its engine can be put to sleep, unless it has something to do: then it
// returns false, and nothing has changed. From its return on a request that comes late finds the replica Resting, and
// gives its place back.
func (r *Replica) Rest() bool {
	r.rest.Store(true)
	r.rewrite(string(resting), func(w *withdrawal) { w.resting = true })
	if r.Quiet() {
		return true
	}
	r.Rise()
	return false
}

// Rise ends what Rest began.
func (r *Replica) Rise() {
	r.rest.Store(false)
	r.rewrite(WhyServes, func(w *withdrawal) { w.resting = false })
}

// Resting returns true between Rest and Rise. A request looks after its Flight has begun, and Rest after it has set
// what is looked at: one of them sees the other.
func (r *Replica) Resting() bool { return r.rest.Load() }

// Quiet returns true if no request is in flight or on its way to the replica, or to one that it has replaced at the
// same URL.
func (r *Replica) Quiet() bool {
	if l := r.ledger.now(); l.inFlight() > 0 || l.waiting() > 0 {
		return false
	}
	before := r.before.Load()
	if before == nil {
		return true
	}
	if !before.Quiet() {
		return false
	}
	r.before.CompareAndSwap(before, nil)
	return true
}

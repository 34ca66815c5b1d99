package fleet

import (
	"math"
	"time"
)

// Work is what a replica has yet to prefill for requests on their way to it or in it, and what it is known to take.
type Work struct {
	// uncached prompt tokens, less what must be computed by now at Rate: of the prompt at the head alone, as later ones
	// have not begun before its first token
	Tokens float64
	// prompt tokens a second, without what any prompt takes, measured from first token to first token, or beside other
	// gateways' prompts from when a prompt was sent, over all before it; 0 is unknown
	Rate float64

	Slowdown float64 // as Pace has it
	Life     float64 // likewise

	Recent Recent
}

// Recent is what was sent to a replica, fading by the second: what was sent 20 seconds ago counts for 1/e.
type Recent struct {
	Tokens   float64 // uncached prompt tokens
	Requests float64
}

// Work returns what r has yet to prefill before a request that is sent there at now. It takes a lock only where
// something has changed since it was asked last. Unlike Backlog it knows that a long prompt that began long ago is
// nearly done.
func (o *occupancy) Work(now time.Time) (w Work) {
	o.WorkAt(&w, now.UnixNano())
	return w
}

// WorkAt is Work into w, at a time in nanoseconds by the wall clock: for those that ask for many replicas at once.
func (o *occupancy) WorkAt(w *Work, now int64) {
	o.prefills.work(w, now, &o.pace)
	if b := o.beside.Load(); b != nil {
		w.Tokens += float64(b.Left)
	}
}

// Remaining returns how much of this gateway's own Backlog is left to compute at now.
func (o *occupancy) Remaining(now time.Time) int {
	var w Work
	o.prefills.work(&w, now.UnixNano(), &o.pace)
	return int(math.Round(w.Tokens))
}

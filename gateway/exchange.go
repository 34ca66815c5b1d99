package gateway

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/decide"
	"octet/gateway/ensemble"
	"octet/gateway/head"
	"octet/gateway/intake"
	"octet/gateway/place"
	"octet/gateway/receipt"
	"octet/gateway/stream"
	"octet/routing"
	"octet/routing/index"
	"octet/scheduler/gate"
)

// exchange is one request and its answer. It is made for it and never used again: its turn's context, the loop that
// carries its stream and the server's own goroutines may hold it for a moment longer than it lasts.
type exchange struct {
	s        *Server
	rt       *ensemble.Runtime
	w        conn.Conn
	r        *http.Request
	ctx      context.Context // the client's connection and the request's deadline
	request  intake.Request
	decision decide.Decision

	sp     *ensemble.Specialist // that is asked now
	route  *routing.Context     // nil between plans, and once a stream has begun
	prompt ensemble.Footprint   // its chain lies in route's memory, while there is a route

	answering string            // the plan's last step
	answerer  *ensemble.Replica // the first in rank for it
	protocol  ensemble.Protocol // of the plan's steps
	beside    *beside           // the step that goes out with the last one; nil if there is none

	shadow *secondOpinion // nil if there is none

	relay     stream.Relay
	attempts  int
	takeovers int              // attempts to go on with a stream whose engine died
	died      index.HostBitmap // replicas whose engines died under this stream
	// the last attempt failed before any engine worked for it: trying elsewhere costs nothing
	free      bool
	struck    bool    // it failed as its engine died
	shows     bool    // it is the first request that this death struck
	spared    bool    // one that did has been followed by another beside the retry budget
	busy      bool    // its engine refused it as one too many
	doubts    []doubt // failures of which it is not known yet whose fault they are
	forsaken  string  // why a stream whose engine died found no other: elsewhere | budget; "" while it has not
	elsewhere bool    // a second choice may answer: a long wait is offered back for it
	predicted int     // tokens of the prompt that the index believes the replica to hold
	preempted int     // times that a place was given back
	routed    time.Duration
	queued    time.Duration
	seen      time.Duration // when something was timed since the arrival, for moment; 0 is used up

	// predicted, in the engine's tokens: what the client and the receipt are told; below 0 is not known
	foretold   int
	turnedAway away                 // by the replicas of the specialist that is asked now
	returnsTo  *ensemble.Specialist // that sent it away, where it comes back as told; nil if there is none

	status   int
	ttft     time.Duration
	judge    bool // the verifier does
	failure  *apierr.Error
	admitted bool // it got a place, once at least
	charged  int  // tokens that its tenant's rate was asked for
	gone     bool // the client left
	abort    bool // close the connection without a proper end

	turn turn
	held []place.Place // of earlier steps, kept for the last one's first token
	head head.Lines    // of the answer
	undo []func()      // run last to first by end

	receipt receipt.Draft
	taken   bool // it counts among the open requests, and among its tenant's
}

// begin makes the exchange of a request.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) *exchange {
	rt := s.runtime.Load()
	x := &exchange{s: s, rt: rt, w: conn.Of(w, r), r: r}
	x.request = intake.Begin(x.w, r, s.arrival(x.w), &rt.Limits, &s.bodies)
	x.receipt = receipt.Begin(intake.NewID())
	if x.request.ID == "" {
		x.request.ID = x.receipt.ID() // a request that is not named is named by its receipt
	}
	x.ctx, x.protocol = r.Context(), ensemble.Plain{}
	x.relay.Init(x.w, x, x)
	x.relay.Write = x.rt.Limits.WriteTimeout // of refusals, too, before the terms are read
	return x
}

// arrival is now, for a request that is just taken up: if the server of c has looked at the clock, that will do.
func (s *Server) arrival(c conn.Head) time.Time {
	if s.ownClock {
		if began := c.Began(); !began.IsZero() {
			return began
		}
	}
	return s.now()
}

// atEnd registers f to run when the exchange ends, in the reverse order of registration.
func (x *exchange) atEnd(f func()) { x.undo = append(x.undo, f) }

// conclude is the end of every exchange.
func (x *exchange) conclude() {
	abort := x.abort
	x.handToShadow()
	x.close()
	x.end()
	if abort {
		panic(http.ErrAbortHandler) // the server closes the connection without a proper end
	}
}

// end gives back everything that the exchange holds.
func (x *exchange) end() {
	x.settle(errAbandoned) // nothing is held any more unless there was a panic
	x.resolve(false)
	x.shadow.forgo()
	x.handBack()
	for i := len(x.undo) - 1; i >= 0; i-- {
		x.undo[i]()
	}
	x.leaveRoom()
	x.dropRoute()
	x.request.End()
	x.relay.Release()
}

// leaveRoom counts the request out.
func (x *exchange) leaveRoom() {
	if !x.taken {
		return
	}
	x.request.Tenant.Leave()
	if x.s.seats.Leave(x.rt.Limits.MaxStreams) {
		x.s.seats.Stayed(x.Since())
	}
}

// openRoute begins a routing, which ends the one before.
func (x *exchange) openRoute() (facts *routing.Facts) {
	x.dropRoute()
	x.route, facts = routing.AcquireEmpty()
	return facts
}

// dropRoute ends the routing. A stream that could be resumed keeps the prompt's chain, which it shows to a Gate then.
func (x *exchange) dropRoute() {
	if x.route == nil {
		return
	}
	chain := x.prompt.Chain
	if x.prompt.Chain = nil; x.relay.Cont != nil {
		x.prompt.Chain = slices.Clone(chain)
	}
	x.route.Release()
	x.route = nil
}

// Since returns the time since the request's arrival: one look at one clock.
func (x *exchange) Since() time.Duration { return x.s.since(x.request.Arrival) }

// Left reports whether the client has closed its side.
func (x *exchange) Left() bool {
	ctx := x.r.Context()
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errDrained)
}

// At is the time at so long after the request's arrival.
func (x *exchange) At(since time.Duration) time.Time { return x.request.Arrival.Add(since) }

// Now returns the time.
func (x *exchange) Now() time.Time { return x.At(x.Since()) }

// moment is since for what follows at once on what was timed last.
func (x *exchange) moment() time.Duration {
	if seen := x.seen; seen != 0 {
		x.seen = 0
		return seen
	}
	return x.Since()
}

// admissionRequest makes r what the Gate is asked, for the specialist that is asked now: for the answer, or for a leg
// before it. All else of r is zero.
func (x *exchange) admissionRequest(r *gate.Request, leg bool) {
	r.ID, r.Priority = x.request.ID, x.request.Intent.Priority
	intake.AskPrompts(&x.prompt, r, &x.request.Parsed)
	r.Deadline, r.TTFTDeadline, r.Adapter, r.Tenant, r.Arrived = x.request.Intent.Deadline,
		x.request.Intent.TTFTDeadline,
		x.decision.Adapter, x.request.Tenant.Name, x.request.Arrival
	r.Paid, r.Whole, r.Victim, r.Resume = x.preempted > 0, !x.request.Stream, x.preempted < mostPreemptions,
		x.relay.Delivered()
	r.OfferBack, r.Draft, r.Returns = x.elsewhere, x.sp.Draft, x.returnsTo == x.sp
	if leg { // the prompt, and the one token that shows that it is computed
		r.MaxNew, r.N, r.Draft, r.OfferBack = 1, 1, 0, false
	}
}

// bindDeadline makes the request's context end at its deadline.
func (x *exchange) bindDeadline() {
	if x.request.Intent.Deadline.IsZero() {
		return
	}
	ctx, cancel := context.WithDeadlineCause(x.ctx, x.request.Intent.Deadline, errDeadline)
	x.ctx = ctx
	x.atEnd(cancel)
}

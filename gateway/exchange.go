package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/decide"
	"octet/gateway/dispatch"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/intake"
	"octet/gateway/receipt"
	"octet/gateway/shadow"
	"octet/gateway/stream"
	"octet/gateway/trace"
	"octet/internal/contain"
)

// exchange is one request and its answer: the values of the line. It is made for one request and never used again: a
// place's context, the loop that carries its stream and the server's own goroutines may hold it for a moment longer
// than it lasts.
type exchange struct {
	s  *Server
	rt *ensemble.Runtime // of this request, to its end
	w  conn.Conn

	origin
	request  intake.Request
	decision decide.Decision
	dispatch dispatch.Dispatch
	relay    stream.Relay
	receipt  receipt.Draft
	trace    *trace.Draft   // nil if requests are not traced
	shadow   *shadow.Shadow // nil if there is none
	copied   bool           // no shadow begins any more
	answer   answer
	holding  holding
}

// origin is where a request came from: its clock, and its client's connection.
type origin struct {
	intake.Timer
	ctx context.Context
}

// Left reports whether the client has closed its side.
func (o *origin) Left() bool {
	return o.ctx.Err() != nil && !errors.Is(context.Cause(o.ctx), fault.ErrDrained)
}

// newID returns the id of a new receipt.
func (s *Server) newID() string { return s.options.Prefix + intake.NewID() }

// Receipt returns a receipt that is kept here, with the tenant that it belongs to; false if none has that id.
func (s *Server) Receipt(id string) (tenant string, r *receipt.Receipt, ok bool) {
	return s.receipts.Lookup(id)
}

// begin makes the exchange of a request.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) *exchange {
	rt := s.runtime.Load()
	x := newExchange(rt.Tracer != nil)
	x.s, x.rt, x.w = s, rt, conn.Of(w, r)
	arrival := s.arrival(x.w)
	x.origin = origin{intake.StartTimer(arrival, s.since), r.Context()}
	x.request.Begin(x.w, r, arrival, &rt.Limits, &s.bodies)
	x.receipt.Begin(s.newID())
	if x.request.ID == "" {
		x.request.ID = x.receipt.ID() // a request that is not named is named by its receipt
	}
	x.beginTrace()
	x.dispatch.Begin(dispatch.Parts{Shared: &s.shared, Runtime: rt, Request: &x.request, Timer: &x.Timer,
		Relay: &x.relay, Receipt: &x.receipt, Trace: x.trace, Client: x})
	x.relay.Init(x.w, &x.origin, x.dispatch.Observer())
	x.relay.Write = rt.Limits.WriteTimeout // of refusals, too, before the terms are read
	return x
}

// arrival is now, for a request that is just taken up: if the server of c has looked at the clock, that will do.
func (s *Server) arrival(c conn.Head) time.Time {
	if s.shared.WallClock {
		if began := c.Began(); !began.IsZero() {
			return began
		}
	}
	return s.now()
}

// End implements dispatch.Client: a stream that has begun is over.
func (x *exchange) End(err error) {
	x.finish(err)
	x.conclude()
}

// finish ends an answer, for which no more is expected: with err, where it failed.
func (x *exchange) finish(err error) {
	defer x.recover()
	x.dispatch.Finish()
	if err != nil {
		x.fail(err)
	}
}

// conclude is the end of every exchange.
func (x *exchange) conclude() {
	abort := x.answer.abort
	x.shadow.End(&x.receipt, &x.relay, x.answer.whole())
	x.record()
	x.close()
	if abort {
		panic(http.ErrAbortHandler) // the server closes the connection without a proper end
	}
}

// close gives back everything that the exchange holds.
func (x *exchange) close() {
	x.dispatch.Close()
	x.shadow.Forgo()
	x.holding.release(x.s, x.rt, &x.request, x.Since)
	x.request.End()
	x.relay.Release()
}

// recover turns a panic into internal_error for this request alone.
func (x *exchange) recover() {
	if p := recover(); p != nil {
		contain.Note(contain.Request, p, "request_id", x.request.ID)
		x.fail(apierr.New(apierr.Internal, "", "internal error"))
	}
}

package gateway

import (
	"time"

	"octet/gateway/intake"
	"octet/gateway/trace"
	"octet/gateway/wire"
)

// newExchange returns memory for an exchange, and for its trace, if requests are traced: they last equally long.
func newExchange(traced bool) *exchange {
	if !traced {
		return new(exchange)
	}
	both := new(struct {
		exchange
		trace trace.Draft
	})
	both.exchange.trace = &both.trace
	return &both.exchange
}

// beginTrace begins the request's trace, if requests are traced. It costs nothing otherwise. A trace that begins here
// has the receipt's id.
func (x *exchange) beginTrace() {
	if x.trace == nil {
		return
	}
	parent, state := x.request.TraceContext()
	x.rt.Tracer.Begin(x.trace, intake.Digits(x.receipt.ID()), parent, state)
	if x.request.Explains() {
		x.trace.Explain()
	}
}

// endTrace makes the spans of the request, if there are to be any. The receipt has its result.
func (x *exchange) endTrace(total time.Duration) {
	if x.trace == nil {
		return
	}
	fault := trace.Fault(x.receipt.Receipt(), x.answer.abort)
	if !x.trace.Kept(fault) {
		return
	}
	r, e := &x.request, &trace.Ending{Receipt: x.receipt.Receipt(), Arrival: x.request.Arrival, Total: total,
		Fault: fault, Engine: x.engineOf}
	e.Asked = trace.Asked{Request: r.ID, Completion: r.Kind == wire.Completion, Path: r.Kind.Path()}
	if r.Tenant != nil {
		e.Asked.Tenant = r.Tenant.Name
	}
	if r.Door != nil {
		e.Asked.Door, e.Asked.Path = r.Door.Served().Only()
	}
	x.receipt.Trace(x.trace.End(e))
}

// engineOf returns what traces tell of a replica's engine.
func (x *exchange) engineOf(replica string) trace.Engine {
	if rep := x.rt.Replica(replica); rep != nil {
		return rep.Traced()
	}
	return trace.Engine{}
}

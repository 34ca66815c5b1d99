package place

import (
	"context"
	"time"

	"octet/routing/fleet"
	"octet/scheduler/gate"
)

// Place is one hold on one replica. The zero Place holds nothing.
type Place struct {
	replica *fleet.Replica
	gate    *gate.Gate
	block   int // tokens: growth is told at multiples of it

	permit fleet.Permit
	ticket *gate.Ticket // nil without a place at the Gate
	flight fleet.Flight
	ctx    *Context // nil if the Gate has no way to end what is done with the place

	Asked Asked // told once the Gate has answered; may be nil

	vacated  bool // the ticket was given back, before the rest
	answered bool // the replica has brought a token
	next     int  // tokens of the answer from which on the Gate is told again
}

// Asked is told that a Gate has answered, be it that the request waits there.
type Asked interface{ End() }

// Clock says what time it is.
type Clock interface{ Now() time.Time }

// New returns a Place at a replica that holds nothing yet. block is its engines' block size, in tokens.
func New(replica *fleet.Replica, gate *gate.Gate, block int) Place {
	return Place{replica: replica, gate: gate, block: max(block, 1)}
}

// Permit asks the replica's breaker. The error is fleet.ErrBreakerOpen.
func (p *Place) Permit(now time.Time) error { return p.replica.TakeAt(&p.permit, now) }

// Doubt hands out the permit, for an outcome that is not known yet. Close settles nothing then.
func (p *Place) Doubt() fleet.Permit {
	permit := p.permit
	p.permit = fleet.Permit{}
	return permit
}

// Watch makes the context of what is done with the place: it ends with parent, and with ErrPreempted when the Gate
// takes the place back. Release ends it.
func (p *Place) Watch(parent context.Context) *Context {
	p.ctx = newContext(parent)
	return p.ctx
}

// Context returns what Watch made, or nil.
func (p *Place) Context() *Context { return p.ctx }

// Cause prefers the reason for which the context ended over the error that its end provoked.
func (p *Place) Cause(err error) error {
	if p.ctx == nil {
		return err
	}
	return Cause(p.ctx, err)
}

// Unwatch ends the Gate's part in the context.
func (p *Place) Unwatch() {
	if p.ticket != nil && !p.vacated {
		p.ticket.Watch(nil)
	}
}

// Admit asks the Gate for a place, from r.Now on, and waits for it. It returns when it was given, which is r.Now if
// there was no need to wait. The replica's ledger has an entry from the moment the request waits there. Errors are the
// Gate's, and of ctx.
func (p *Place) Admit(ctx context.Context, r *gate.Request, d fleet.Demand, clock Clock) (time.Time, error) {
	if p.ctx != nil {
		r.Watcher = p.ctx
	}
	ticket, wait, err := p.gate.Ask(ctx, r)
	if p.Asked != nil {
		p.Asked.End()
	}
	if wait != nil {
		p.flight = p.replica.Route(d)
		ticket, err = wait.Await(ctx)
	}
	at := r.Now
	if err != nil || ticket.Waited() > 0 {
		at = clock.Now()
	}
	if err != nil {
		return at, err
	}
	p.ticket, p.vacated, p.answered, p.next = ticket, false, false, 0
	if wait != nil {
		p.flight.Begin(at)
	} else {
		p.replica.Start(&p.flight, d, at)
	}
	if p.replica.Resting() {
		return at, ErrAsleep
	}
	return at, nil
}

// Admitted reports whether there is a place at the Gate.
func (p *Place) Admitted() bool { return p.ticket != nil }

// Speculative reports whether the Gate has reserved the request's whole draft window.
func (p *Place) Speculative() bool { return p.ticket.Speculative() }

// Waited returns how long the request waited for its place.
func (p *Place) Waited() time.Duration { return p.ticket.Waited() }

// FirstToken says that the prompt is computed.
func (p *Place) FirstToken(now time.Time) {
	p.answered = true
	p.ticket.FirstToken()
	p.flight.FirstToken(now)
}

// Grows reports whether Grow has anything to tell with so many tokens: at the first token, and at block boundaries.
func (p *Place) Grows(tokens int) bool { return tokens >= p.next }

// Grow tells the Gate and the ledger that the answer has so many tokens, of which engines before this one brought the
// first ones. It returns true at the first token of this replica.
func (p *Place) Grow(tokens, before int, now time.Time) (first bool) {
	if first = !p.answered; first {
		p.FirstToken(now)
	}
	if p.Grows(tokens) {
		p.next = tokens - tokens%p.block + p.block
		p.ticket.Grow(tokens)
		p.permit.Lives(now)
		p.flight.Grow(tokens-before, now)
	}
	return first
}

// Pin keeps the place to the end of the answer. It returns false if the Gate has asked for it before.
func (p *Place) Pin() bool { return p.ticket.Pin() }

// Yielding reports whether the Gate wants the place back.
func (p *Place) Yielding() bool { return p.ticket.Yielding() }

// Cached says how many tokens of the prompt the engine had cached.
func (p *Place) Cached(tokens int) { p.ticket.Cached(tokens) }

// Complete gives the ticket back with the whole answer, of which the engine had cached so many tokens of the prompt;
// below 0 is unknown. It returns false if the Gate has taken the place back before.
func (p *Place) Complete(tokens, cached int, now time.Time) bool {
	p.flight.Grow(tokens, now)
	p.vacated = p.ticket.Complete(tokens, cached, now)
	return p.vacated
}

// Vacate gives the ticket back at the end of an answer, before its client can see the end: what the client asks next
// finds the blocks free. The answer has so many tokens of this replica, the last of which came at now.
func (p *Place) Vacate(tokens int, now time.Time) {
	p.flight.Grow(tokens, now)
	p.ticket.Release()
}

// Lives says that the replica has served a request to its end.
func (p *Place) Lives() { p.flight.Lives() }

// Struck says that the replica's engine failed under the request: see fleet.Flight.Struck.
func (p *Place) Struck(now time.Time) (died, first bool) { return p.flight.Struck(now) }

// Detach moves the ticket and the ledger's entry into a Place of their own, which outlasts this one.
func (p *Place) Detach() Place {
	held := Place{replica: p.replica, gate: p.gate, block: p.block, ticket: p.ticket, flight: p.flight}
	p.ticket, p.flight = nil, fleet.Flight{}
	return held
}

// Role returns what the replica does of a request.
func (p *Place) Role() string { return p.replica.Spec().Role }

// Release gives back all but the permit: the same request may ask the same replica again.
func (p *Place) Release() {
	if p.ctx != nil {
		p.ctx.Cancel(nil)
	}
	if p.ticket != nil && !p.vacated {
		p.ticket.Release()
	}
	p.ticket = nil
	p.flight.Land()
}

// Close gives back all, and tells the breaker what came of it.
func (p *Place) Close(outcome fleet.Outcome) {
	p.Release()
	p.permit.Settle(outcome)
}

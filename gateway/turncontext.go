package gateway

import (
	"context"

	"octet/internal/lifetime"
	"octet/scheduler"
)

// turnContext is the context of one turn: it ends with the request's, or when it is cancelled, which it must be.
type turnContext struct{ lifetime.Context }

func newTurnContext(parent context.Context) *turnContext {
	c := new(turnContext)
	c.Begin(parent)
	return c
}

// cause is why the context has ended, nil while it has not.
func (c *turnContext) cause() error { return lifetime.Cause(&c.Context) }

// cancel ends the context for a reason, nil being none in particular. Where it has ended before, nothing changes. It reports whether
// nobody was to be told, and so nobody looks at it later.
func (c *turnContext) cancel(why error) (unheard bool) { return c.Cancel(why) }

// past is what a turn that ended with its whole answer left to the next: nobody has it any more.
type past struct {
	ticket *scheduler.Ticket
	ctx    *turnContext // nil is none, like ticket
}

// context is newTurnContext, in the memory of the last one.
func (p *past) context(parent context.Context) *turnContext {
	c := p.ctx
	if c == nil {
		return newTurnContext(parent)
	}
	p.ctx, *c = nil, turnContext{}
	c.Begin(parent)
	return c
}

// place is the memory of the last ticket.
func (p *past) place() *scheduler.Ticket {
	t := p.ticket
	p.ticket = nil
	return t
}

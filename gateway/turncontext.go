package gateway

import (
	"context"

	"octet/internal/http1/lifetime"
)

// turnContext is the context of one turn: it ends with the request's, or when it is cancelled, which it must be. Each
// turn makes its own: a deadline, a hang-up or a preemption may still be about to end it when the turn is over.
type turnContext struct{ lifetime.Context }

func newTurnContext(parent context.Context) *turnContext {
	c := new(turnContext)
	c.Begin(parent)
	return c
}

// cause is why the context has ended, nil while it has not.
func (c *turnContext) cause() error { return lifetime.Cause(&c.Context) }

// cancel ends the context for a reason, nil being none in particular. Where it has ended before, nothing changes.
func (c *turnContext) cancel(why error) { c.Cancel(why) }

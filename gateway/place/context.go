package place

import (
	"context"
	"errors"

	"octet/internal/http1/lifetime"
)

// ErrPreempted ends the context of a place that the Gate has taken back.
var ErrPreempted = errors.New("preempted by a request of higher priority")

// ErrAsleep is a replica that is put to sleep as a request comes.
var ErrAsleep = errors.New("the replica is put to sleep")

// ErrShort is a replica whose engine does not take as many tokens as a request has, where another replica does.
var ErrShort = errors.New("the replica's context is shorter than the request")

// Context is that of what is done with one place. Each place makes its own: a deadline, a hang-up or a preemption may
// still be about to end it when the place is given back.
type Context struct{ lifetime.Context }

func newContext(parent context.Context) *Context {
	c := new(Context)
	c.Begin(parent)
	return c
}

// Preempted implements gate.Watcher.
func (c *Context) Preempted() { c.Cancel(ErrPreempted) }

// Cause returns why the context has ended, nil while it has not.
func (c *Context) Cause() error { return lifetime.Cause(&c.Context) }

// Cause prefers the reason for which ctx ended over the error that its end provoked.
func Cause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if c, ok := ctx.(*Context); ok {
		return c.Cause()
	}
	return context.Cause(ctx)
}

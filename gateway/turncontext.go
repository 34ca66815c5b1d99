package gateway

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// turnContext is the context of one turn: it ends with the request's, or when it is cancelled. It costs the request's context
// one registration, and that only when somebody asks to be told. One whose end nobody waits for any more must be cancelled.
type turnContext struct {
	context.Context // the request's

	over atomic.Bool // cancelled, or told that the request's context has ended

	mu    sync.Mutex // guards all below
	why   error      // its cause; set before over
	done  chan struct{}
	hooks []hook
	room  [1]hook // of hooks: rarely is there another
	last  int     // hook's id
	leave func() bool
}

// hook is who is to be told of the end.
type hook struct {
	id int
	f  func()
}

func newTurnContext(parent context.Context) *turnContext {
	c := &turnContext{Context: parent}
	c.hooks = c.room[:0]
	return c
}

// Err implements context.Context.
func (c *turnContext) Err() error {
	if c.over.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}

// Done implements context.Context.
func (c *turnContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.over.Load() {
			close(c.done)
		}
		c.follow()
	}
	return c.done
}

// cause is why the context has ended, nil while it has not: context.Cause does not know contexts of other makes.
func (c *turnContext) cause() error {
	if !c.over.Load() {
		return context.Cause(c.Context)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// AfterFunc is context.AfterFunc, which looks for it.
func (c *turnContext) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over.Load() {
		go f()
		return func() bool { return false }
	}
	c.last++
	id := c.last
	c.hooks = append(c.hooks, hook{id, f})
	c.follow()
	return func() bool { return c.unhook(id) }
}

func (c *turnContext) unhook(id int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.hooks, func(h hook) bool { return h.id == id })
	if at < 0 {
		return false
	}
	c.hooks = slices.Delete(c.hooks, at, at+1)
	return true
}

// follow asks the request's context to tell of its end, once. Under mu.
func (c *turnContext) follow() {
	if c.leave != nil || c.over.Load() {
		return
	}
	ended := func() { c.cancel(nil) }
	if p, ok := c.Context.(interface{ AfterFunc(func()) func() bool }); ok {
		c.leave = p.AfterFunc(ended)
		return
	}
	c.leave = context.AfterFunc(c.Context, ended)
}

// cancel ends the context for a reason, nil being none in particular. Where it has ended before, nothing changes.
func (c *turnContext) cancel(why error) {
	c.mu.Lock()
	if c.over.Load() {
		c.mu.Unlock()
		return
	}
	if c.Context.Err() != nil {
		why = context.Cause(c.Context)
	}
	if why == nil {
		why = context.Canceled
	}
	c.why = why
	c.over.Store(true)
	if c.done != nil {
		close(c.done)
	}
	for _, h := range c.hooks {
		go h.f()
	}
	c.hooks = nil
	leave := c.leave
	c.mu.Unlock()
	if leave != nil {
		leave()
	}
}

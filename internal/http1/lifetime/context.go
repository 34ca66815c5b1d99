package lifetime

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Listener wants to be told when a context has ended. It is a pointer: its identity decides what Unlisten takes back.
type Listener interface{ ContextEnded() }

// Context ends with its parent, or when it is cancelled. It is used in place: Begin it, and do not copy it. Its memory
// must not be used for another one: a timer, a parent or a listener that has begun to call it may do so after Cancel
// has returned.
type Context struct {
	context.Context             // the parent
	up              *Context    // which it is or wraps, else nil
	treeMu          *sync.Mutex // shared by all Contexts under the same foreign parent; guards all below

	over   atomic.Bool // cancelled, or told that the parent has ended
	follow bool        // the parent will tell
	first  Listener    // rarely is there another
	others []Listener
	err    error // of Err; set before over, like cause
	cause  error
	done   chan struct{}
	leave  func() bool // what takes follow back where the parent is of another make; else nil
}

// Begin makes c a context under parent. c must be new.
func (c *Context) Begin(parent context.Context) {
	c.Context = parent
	if c.up = ours(parent); c.up != nil {
		c.treeMu = c.up.treeMu
	} else {
		c.treeMu = new(sync.Mutex)
	}
}

// Err implements context.Context.
func (c *Context) Err() error {
	if c.over.Load() {
		return c.err
	}
	return c.Context.Err()
}

// Done implements context.Context.
func (c *Context) Done() <-chan struct{} {
	if c.Context.Err() != nil {
		c.Cancel(nil)
	}
	c.treeMu.Lock()
	defer c.treeMu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.over.Load() {
			close(c.done)
		}
		c.watch()
	}
	return c.done
}

// Cause is context.Cause, which does not know contexts of other makes.
func Cause(ctx context.Context) error {
	c := ours(ctx)
	switch {
	case c == nil:
		return context.Cause(ctx)
	case !c.over.Load():
		return Cause(c.Context)
	}
	return c.cause
}

// holder is a context of another make that is around one of ours.
type holder interface{ Lifetime() *Context }

// ours is the Context that ctx is or wraps, else nil.
func ours(ctx context.Context) *Context {
	switch c := ctx.(type) {
	case *Context:
		return c
	case holder:
		return c.Lifetime()
	}
	return nil
}

// Lifetime returns c, for those that wrap it.
func (c *Context) Lifetime() *Context { return c }

// Listen has l told of the end, which may have come.
func (c *Context) Listen(l Listener) {
	c.treeMu.Lock()
	over := c.over.Load()
	if !over {
		c.enter(l)
		c.watch()
	}
	c.treeMu.Unlock()
	if over {
		go l.ContextEnded() // a listener may hold a lock
	}
}

// enter adds a listener. Under treeMu.
func (c *Context) enter(l Listener) {
	if c.first == nil {
		c.first = l
	} else {
		c.others = append(c.others, l)
	}
}

// Unlisten reports whether l will not be told.
func (c *Context) Unlisten(l Listener) bool {
	c.treeMu.Lock()
	found := c.strike(l)
	c.treeMu.Unlock()
	return found
}

// strike takes a listener away, and reports whether it was there. Under treeMu.
func (c *Context) strike(l Listener) bool {
	if c.first == l {
		c.first = nil
		return true
	}
	at := slices.Index(c.others, l)
	if at < 0 {
		return false
	}
	c.others = slices.Delete(c.others, at, at+1)
	return true
}

// hook is a function as a Listener.
type hook struct{ f func() }

func (h *hook) ContextEnded() { h.f() }

// AfterFunc is context.AfterFunc, which looks for it.
func (c *Context) AfterFunc(f func()) (stop func() bool) {
	h := &hook{f}
	c.Listen(h)
	return func() bool { return c.Unlisten(h) }
}

// watch asks the parent to tell of its end, once. Under treeMu.
func (c *Context) watch() {
	if c.follow || c.over.Load() {
		return
	}
	c.follow = true
	switch p := c.up; {
	case p == nil && c.Context.Done() != nil:
		c.leave = context.AfterFunc(c.Context, c.ContextEnded)
	case p == nil:
	case p.over.Load():
		go c.ContextEnded()
	default:
		p.enter(c)
		p.watch()
	}
}

// ContextEnded ends c with its parent.
func (c *Context) ContextEnded() { c.Cancel(nil) }

// Cancel ends the context for a reason, nil being none in particular. Where it or its parent has ended before, that
// stays the reason.
func (c *Context) Cancel(why error) {
	c.treeMu.Lock()
	if c.over.Load() {
		c.treeMu.Unlock()
		return
	}
	c.end(why)
	first, others, leave := c.first, c.others, c.leave
	c.first, c.others, c.leave = nil, nil, nil
	c.treeMu.Unlock()
	if first != nil {
		tell(first)
	}
	for _, l := range others {
		tell(l)
	}
	if leave != nil {
		leave()
	}
}

// end is Cancel before any listener is told. Under treeMu.
func (c *Context) end(why error) {
	c.err, c.cause = context.Canceled, why
	if err := c.Context.Err(); err != nil {
		c.err, c.cause = err, Cause(c.Context)
	}
	if c.cause == nil {
		c.cause = c.err
	}
	c.over.Store(true)
	if c.done != nil {
		close(c.done)
	}
	if c.up != nil && c.follow {
		c.up.strike(c)
	}
}

// tell ends contexts at once, and has others hear on a goroutine of their own.
func tell(l Listener) {
	if child, ok := l.(*Context); ok {
		child.Cancel(nil)
		return
	}
	go l.ContextEnded()
}

// Watch is a Listener under some context. The zero Watch is of no Listener.
type Watch struct {
	own  *Context
	who  Listener
	stop func() bool
}

// Listen has l told of the end of any context: at no cost but a lock where it is a Context.
func Listen(ctx context.Context, l Listener) Watch {
	if own := ours(ctx); own != nil {
		own.Listen(l)
		return Watch{own: own, who: l}
	}
	return Watch{stop: context.AfterFunc(ctx, l.ContextEnded)}
}

// Stop reports whether the listener will not be told.
func (w *Watch) Stop() bool {
	switch {
	case w.own != nil:
		return w.own.Unlisten(w.who)
	case w.stop != nil:
		return w.stop()
	}
	return false
}

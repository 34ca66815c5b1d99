package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"octet/internal/http1/poll"
	"octet/internal/http1/sock"
)

// carried is a Response that a loop feeds to its reader.
type carried struct {
	feeding
	fd   uintptr
	hung bool // the engine has closed its side
	wide int  // reads in a row that brought much
	end  func(error)
}

// Carry goes on where a Feed was left by its sink's Pause, on a loop in place of a goroutine, and returns at once: sink
// is called as Feed calls it, by the loop, and must not wait; end is called last, once, with what Feed would have
// returned, and must not wait either. Until then r is not to be used. False: nothing is carried, and Feed is the way.
//
// An engine that sends more than one loop should pass on for many is left to Feed again: end is called with nil then,
// after a Pause. What sink is given lies in memory that is void when end has returned. A panic of theirs is an error
// with a method Panicked. The idle timeout may strike an eighth of itself late.
func (r *Response) Carry(sink Sink, end func(error)) bool {
	c := r.conn
	if c == nil || c.lazy == nil || r.err != nil || c.r < c.w || r.idle < 2*parts*poll.Sweep {
		return false
	}
	k := &carried{feeding: feeding{Response: r, sink: sink}, end: end}
	if c.raw.Control(func(fd uintptr) { k.fd = fd }) != nil {
		return false
	}
	c.keepText()
	c.rest()
	c.carried.Store(true)
	if r.ctx.Err() == nil && r.client.cfg.Loops.Add(k.fd, k, r.idle) { // the end of ctx wakes the loop from now on
		return true
	}
	c.carried.Store(false)
	return false
}

// Ready implements poll.Stream. The end of the context closes the reading side, so ctx is looked at only where that
// is closed.
func (k *carried) Ready(page []byte, hung bool) poll.Next {
	k.hung = k.hung || hung
	if k.hung && k.interrupted() {
		return poll.Leave
	}
	n, errno := sock.Read(k.fd, page)
	switch {
	case errno == syscall.EAGAIN:
		return poll.Wait
	case errno == 0 && n > 0:
		return k.read(page, n)
	case k.interrupted():
	case errno != 0:
		k.ends(os.NewSyscallError("read", errno))
	default:
		k.ends(io.EOF)
	}
	return poll.Leave
}

// interrupted reports whether the context has ended, which is the answer's end, too.
func (k *carried) interrupted() bool {
	if k.ctx.Err() == nil {
		return false
	}
	k.err = k.fail(ended(k.ctx))
	return true
}

// read hands on the first n bytes of page.
func (k *carried) read(page []byte, n int) poll.Next {
	c := k.conn
	c.buf, c.r, c.w = page, 0, n
	more, err := k.pour()
	k.err = err
	left := c.unread()
	c.buf, c.r, c.w = nil, 0, 0
	switch {
	case !more || err != nil:
		c.keep(left)
		return poll.Leave
	case k.bursts(n):
		return poll.Leave
	case n == len(page) || k.hung:
		return poll.More
	}
	return poll.Wait
}

// Many bytes at a time, so many times in a row, are a burst.
const (
	burstBytes = 4 << 10
	burstReads = 4
)

func (k *carried) bursts(n int) bool {
	if n < burstBytes {
		k.wide = 0
		return false
	}
	k.wide++
	return k.wide >= burstReads
}

// keep takes a buffer for what was received and not taken.
func (c *conn) keep(unread []byte) {
	if len(unread) == 0 {
		return
	}
	if c.hold(); len(unread) > len(c.buf) {
		c.rest()
		c.holdWide()
	}
	c.w = copy(c.buf, unread)
}

// End implements poll.Stream.
func (k *carried) End(why error) {
	c := k.conn
	c.carried.Store(false)
	if why != nil {
		c.buf, c.r, c.w = nil, 0, 0 // where there was a panic
	}
	switch {
	case errors.Is(why, poll.ErrIdle):
		k.err = k.fail(fmt.Errorf("%w: nothing came", ErrTimeout))
	case why != nil:
		k.err = k.fail(fmt.Errorf("%w: %w", ErrReset, why))
	}
	k.end(k.err)
}

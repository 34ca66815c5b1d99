package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"octet/internal/http1/guard"
)

// conn is one connection. Its own goroutine runs everything but left and cut.
type conn struct {
	link
	reader
	answer Answer

	id      uint64
	watched bool // the watch will tell when the peer is gone
	nudged  bool // guarded by server.mu: it was woken to find that the server is closing
	// since when, in ns of Unix, there has been no whole head; 0 while a request is being answered
	waits  atomic.Int64
	source netip.Addr // by which it counts

	ready    func(fd uintptr) bool // receives, and answers what is whole; sets verdict or failed
	verdict  verdict
	resting  bool               // limit is that of an idle connection
	detached func() (over bool) // what answers on when the handler has returned; else nil
	linger   bool               // what was not read would make the close a reset, and the answer may be lost with it
}

// verdict is what a connection needs next.
type verdict uint8

const (
	starved verdict = iota // more bytes of a head
	pending                // a handler: a head is parsed, and its body not at hand
	over                   // to be closed
)

func newConn(s *Server, nc net.Conn) *conn {
	born := time.Now()
	c := &conn{source: sourceOf(nc.RemoteAddr())}
	c.server, c.nc, c.raw = s, nc, rawOf(nc)
	c.waits.Store(born.UnixNano())
	if c.raw != nil {
		_ = c.raw.Control(func(fd uintptr) { c.fd = fd }) // fails on a closed connection, as all else will
	}
	base := s.BaseContext
	if base == nil {
		base = context.Background()
	}
	c.ctx.Begin(base)
	c.ready, c.into = c.onReady, c.onTarget
	c.blank = (&http.Request{}).WithContext(&c.ctx)
	if addr := nc.RemoteAddr(); addr != nil {
		c.blank.RemoteAddr = addr.String()
	}
	c.req = new(http.Request)
	c.header = http.Header{}
	c.body.c, c.answer.c = c, c
	c.answer.header = http.Header{}
	c.inHead, c.limit = true, after(born, s.ReadHeaderTimeout)
	return c
}

// after returns the end of d from now on; zero for no d.
func after(now time.Time, d time.Duration) time.Time {
	if d <= 0 {
		return time.Time{}
	}
	return now.Add(d)
}

// serve is the connection's life. A panic outside of a handler ends it alone.
func (c *conn) serve() {
	left := false
	defer func() {
		if !left {
			c.wreck()
		}
	}()
	defer c.server.Panics.End(guard.Connection, nil)
	for c.await() == pending {
		if !c.handle() || c.detached != nil {
			break
		}
	}
	c.leave()
	left = true
}

// leave is the end of serve: of the connection, or of its goroutine alone.
func (c *conn) leave() {
	if f := c.detached; f != nil {
		c.detached = nil
		go c.goOn(f)
		return
	}
	c.end()
}

// wreck ends the connection whatever state it is in; its memory is not used again.
func (c *conn) wreck() {
	defer c.server.Panics.End(guard.Connection, nil)
	c.server.forget(c)
	_ = c.nc.Close() // it is given up
	c.ctx.Cancel(nil)
}

// end gives back what the connection holds, whatever ended it.
func (c *conn) end() {
	c.ctx.Cancel(nil)
	c.answer.drop()
	if c.linger {
		c.sayGoodbye()
	}
	c.release()
	_ = c.nc.Close() // it is given up
	c.server.forget(c)
}

// await receives until a request waits for its handler, or the connection is over. Requests that come whole are
// answered on the way, without the connection ever being asked in vain whether there is more.
func (c *conn) await() verdict {
	if c.r < c.w {
		if v := c.advance(); v != starved {
			return v
		}
	}
	for {
		c.verdict, c.failed = starved, nil
		err := c.wait()
		if c.verdict != starved {
			return c.verdict
		}
		if c.failed != nil {
			err = c.failed
		}
		if err == nil || !c.again(err) {
			return c.cutShort(err)
		}
	}
}

// wait receives until verdict is set, or the error that ends or interrupts that.
func (c *conn) wait() error {
	if c.raw != nil {
		return c.raw.Read(c.ready)
	}
	for c.verdict == starved {
		if !c.park() {
			c.verdict = over
			return nil
		}
		n, err := c.nc.Read(c.room())
		if n > 0 {
			c.took(n)
			c.verdict = c.advance()
		}
		if err != nil && c.verdict == starved {
			return err
		}
	}
	return nil
}

// took counts n bytes that were received.
func (c *conn) took(n int) {
	c.w += n
	c.resting = false
}

// advance answers what requests are whole, and says what is missing then.
func (c *conn) advance() verdict {
	for c.r < c.w {
		from := c.r
		whole, bad := c.readHead()
		if bad != nil {
			return c.refuse(bad, c.buf[from:c.w])
		}
		if !whole {
			return starved
		}
		c.large = c.body.large()
		if !c.body.atHand() && !c.reach() {
			return pending
		}
		if !c.handle() || c.detached != nil {
			return over
		}
	}
	return starved
}

// park prepares to wait for bytes: lets go of the buffer where it is empty, and bounds the wait. It reports false where
// there is nothing to wait for, as the server is closing.
func (c *conn) park() bool {
	switch {
	case c.r < c.w:
		if c.wide != nil && c.w-c.r < inSize {
			c.resize(false)
		}
		if !c.inHead {
			now := time.Now()
			c.inHead, c.limit = true, after(now, c.server.ReadHeaderTimeout)
			c.waits.CompareAndSwap(0, now.UnixNano())
		}
	default:
		c.release()
		if !c.inHead && !c.resting {
			now := c.answer.now()
			c.resting, c.limit = true, after(now, c.server.IdleTimeout)
			c.waits.Store(now.UnixNano())
			c.forgetLarge()
		}
	}
	c.arm()
	return !c.leaves()
}

// leaves reports whether the server is closing, or the connection has to make room: then one that has sent no whole
// head ends at once. It is asked when the wait for more is armed: what waits is woken, once, and comes by here again.
func (c *conn) leaves() bool { return c.server.closing.Load() || c.peer.Load()&leaving != 0 }

// cutShort ends a connection on which no more will come, for what cause.
func (c *conn) cutShort(err error) verdict {
	if c.r == c.w {
		return over
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return c.refuse(errHeadLate, c.buf[c.r:c.w])
	case errors.Is(err, io.EOF):
		return c.refuse(errHeadCut, c.buf[c.r:c.w])
	}
	return over
}

package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"octet/internal/http1/guard"
	"octet/internal/http1/lifetime"
)

// What is known of the peer, as bits.
const (
	gone uint32 = 1 << iota // it has closed its side, or reset
	// the rest of a request's body is still to come, and whoever reads it learns that the peer is gone
	owing
	closes  // Close has struck
	leaving // it is to make room for another, as soon as it has no request
	hurried // Interrupt has: the body's reader is not to wait any more
)

// conn is one connection. Its own goroutine runs everything but left and cut.
type conn struct {
	server  *Server
	nc      net.Conn
	raw     syscall.RawConn // nil: nc is read by blocking, with a buffer held
	fd      uintptr         // under raw, as long as nc is not closed
	id      uint64
	watched bool // the watch will tell when the peer is gone
	born    time.Time
	nudged  bool // guarded by server.mu: it was woken to find that the server is closing
	peer    atomic.Uint32
	// since when, in ns of Unix, there has been no whole head; 0 while a request is being answered
	waits  atomic.Int64
	source netip.Addr       // by which it counts
	ctx    lifetime.Context // of its requests

	page    *[inSize]byte   // from the pool; nil while nothing is held
	wide    *[wideSize]byte // likewise; one of both at most
	buf     []byte          // page, wide, or larger when a head was
	r, w    int             // buf[r:w] is received and not yet taken
	scan    scan            // how far the head in buf[r:w] was searched for its end
	skipped int             // bytes of empty lines before it
	large   bool            // the last request was longer than a page
	lent    bool            // what is taken of buf is its handler's until it returns
	full    bool            // the last read left no room: there may be more

	limit   time.Time // until when the bytes that are waited for must come; zero is never
	armed   time.Time // when a read will fail as set on nc; at or before limit, but for what is lazy
	inHead  bool      // limit is the head's
	resting bool      // limit is that of an idle connection

	writeBy    time.Time // as limit, for writes
	writeArmed time.Time

	ready   func(fd uintptr) bool // receives, and answers what is whole; sets verdict or failed
	into    func(fd uintptr) bool // receives into target; sets got or failed
	within  bool                  // ready runs, and what it calls: nobody else reads or writes
	target  []byte
	got     int
	failed  error
	verdict verdict

	blank    *http.Request // with ctx and nothing else
	req      *http.Request
	url      url.URL
	header   http.Header
	values   []string // of header
	names    []string // of values
	twice    bool     // a field of header came more than once
	habit    *habit   // nil before the second request
	asked    bool     // there was a first
	headSize int      // of the last head, in bytes
	post     bool     // the request before was a POST
	last     bool     // the client wants no answer after this one
	body     body
	answer   Answer
	detached func() (over bool) // what answers on when the handler has returned; nil is nothing
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
	c := &conn{server: s, nc: nc, raw: rawOf(nc), born: time.Now(), source: sourceOf(nc.RemoteAddr())}
	c.waits.Store(c.born.UnixNano())
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
	c.inHead, c.limit = true, after(c.born, s.ReadHeaderTimeout)
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

// wreck ends the connection whatever state it is in; its memory is nobody's any more.
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
	_ = c.nc.Close() // it is given up: nobody is interested in how
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
		whole, bad := c.readHead()
		if bad != nil {
			return c.refuse(bad)
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
		return c.refuse(errHeadLate)
	case errors.Is(err, io.EOF):
		return c.refuse(errHeadCut)
	}
	return over
}

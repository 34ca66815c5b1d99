package client

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"octet/internal/http1/sock"
	"octet/internal/poison"
)

// bufferSize is what an exchange reads into, in bytes: some twenty tokens' events. An answer that waits for its engine
// holds none, where the connection can be waited for without one.
const bufferSize = 4 << 10

// buffers and burstBuffers are used again: a buffer is one connection's alone, whose owner gives it back by rest, and
// pieces of an answer in it are void then, as Sink says.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// burstSize is what an exchange reads into while its engine sends more than bufferSize at a time, in bytes.
const burstSize = 32 << 10

var burstBuffers = sync.Pool{New: func() any { return new([burstSize]byte) }}

// conn is one connection to a replica. One exchange at a time owns it; ContextEnded alone may be called from elsewhere.
// What an exchange touches on its way lies side by side, in the order in which it does.
type conn struct {
	below   *conn       // in the pool, whose mu guards it
	ticks   uint32      // of the pool, when it was put there
	gone    atomic.Bool // the engine has closed it: set before the reader is woken
	carried atomic.Bool // it is a loop's, which a deadline does not wake
	watched bool
	reused  bool    // it has been in the pool
	toSend  bool    // it is to send what writing holds before it reads
	quiet   bool    // nothing to read, and not ended either
	one     [1]byte // looked for

	fixed *[bufferSize]byte // from the pool of buffers; nil while idle, and while a lazy read waits
	buf   []byte            // fixed or burst, or larger when a head was; the request's head is built in it, too
	r, w  int               // buf[r:w] is received and not yet taken

	writing net.Buffers // what is left to write
	spare   net.Buffers // its memory

	readBy  moment                // when a read will fail as armed on nc; 0 is never. At or before the true limit
	raw     syscall.RawConn       // nil where the transport has no descriptor
	lazy    func(fd uintptr) bool // onReady; nil where a read must hold a buffer while it waits, as under TLS
	got     int                   // what it read
	lazyErr error

	usual *usual           // what its answers have in common; nil before the second
	head  head             // of the answer
	text  []byte           // head's, in buf; nil once it is in kept
	kept  []byte           // likewise
	burst *[burstSize]byte // held beside fixed while the engine sends faster than it is read; else nil

	nc      net.Conn
	writeBy moment
	probe   func(fd uintptr) bool // sets quiet; nil where lazy looks for itself
	hangups *hangups              // that watch it; nil if none do
	id      uint64                // there
}

func newConn(nc net.Conn) *conn {
	c := &conn{nc: nc}
	c.raw = rawOf(nc)
	if _, plain := nc.(*net.TCPConn); plain && c.raw != nil && looks {
		c.lazy = c.onReady
		return c
	}
	c.probe = func(fd uintptr) bool {
		c.quiet = wouldBlock(fd, c.one[:])
		return true // whatever came, never wait for more
	}
	return c
}

var past = time.Unix(1, 0)

// ContextEnded ends reads and writes at once and for good.
func (c *conn) ContextEnded() {
	_ = c.nc.SetDeadline(past) // fails only on a connection that is closed already
	if half, ok := c.nc.(halfCloser); ok && c.carried.Load() {
		_ = half.CloseRead() // likewise; to the loop it is the end
	}
}

// What a connection may have beyond net.Conn.
type (
	halfCloser interface{ CloseRead() error }  // TCP's and those of Unix sockets
	layered    interface{ NetConn() net.Conn } // TLS over another
)

// rawOf returns the descriptor under nc, below TLS where there is TLS.
func rawOf(nc net.Conn) syscall.RawConn {
	if over, ok := nc.(layered); ok {
		nc = over.NetConn()
	}
	if under, ok := nc.(syscall.Conn); ok {
		if raw, err := under.SyscallConn(); err == nil {
			return raw
		}
	}
	return nil
}

// alive reports whether an idle connection can be used: the engine has neither ended it nor sent anything unasked.
// One system call, no waiting.
func (c *conn) alive() bool {
	if c.raw == nil {
		return true
	}
	if c.readBy != 0 && now() >= c.readBy {
		c.readBy = 0
		_ = c.nc.SetReadDeadline(time.Time{}) // on failure the probe fails too
	}
	c.quiet = false
	return c.raw.Read(c.probe) == nil && c.quiet
}

// hold gives c a buffer for an exchange.
func (c *conn) hold() {
	c.fixed = buffers.Get().(*[bufferSize]byte)
	c.buf, c.r, c.w = c.fixed[:], 0, 0
}

// holdWide gives c a large buffer, to be given back as soon as what came is handed on. c must hold none.
func (c *conn) holdWide() {
	c.burst = burstBuffers.Get().(*[burstSize]byte)
	c.buf, c.r, c.w = c.burst[:], 0, 0
}

// rest takes the buffer away again. What aliases it is void.
func (c *conn) rest() {
	c.buf, c.r, c.w, c.text = nil, 0, 0, nil
	if cap(c.kept) > bufferSize {
		c.kept = nil
	}
	if c.fixed != nil {
		poison.Bytes(c.fixed[:])
		buffers.Put(c.fixed)
		c.fixed = nil
	}
	if c.burst != nil {
		poison.Bytes(c.burst[:])
		burstBuffers.Put(c.burst)
		c.burst = nil
	}
}

// widen has the next read take more at once where the last one filled its buffer. All that was received must be taken;
// what aliases the buffer is void.
func (c *conn) widen() {
	if c.w == len(c.buf) && c.burst == nil && c.fixed != nil {
		c.burst = burstBuffers.Get().(*[burstSize]byte)
		c.buf = c.burst[:]
	}
	c.r, c.w = 0, 0
}

// close ends the connection. What aliases its buffer is void.
func (c *conn) close() {
	if c.hangups != nil {
		c.hangups.drop(c)
		c.hangups = nil
	}
	_ = c.nc.Close() // it is given up
	c.rest()
}

// armWrite bounds what is written next by limit, or by as little as three quarters of it where a deadline that is armed
// already will do.
func (c *conn) armWrite(limit time.Duration) {
	if at := now(); c.writeBy.since(at) < limit-limit/4 {
		c.writeBy = at.after(limit)
		_ = c.nc.SetWriteDeadline(c.writeBy.time()) // fails on a closed connection, as the write will
	}
}

// load makes writing of head, which may lie in buf, and the segments: one part where buf has room for all.
func (c *conn) load(head []byte, segments [][]byte) {
	c.spare = append(c.spare[:0], head)
	if len(head)+bodySize(segments) <= len(c.buf) {
		for _, s := range segments {
			c.spare[0] = append(c.spare[0], s...)
		}
	} else {
		c.spare = append(c.spare, segments...)
	}
	c.writing = c.spare
}

// send writes what is left of writing, with one system call unless the socket is full, and returns how much it wrote.
func (c *conn) send() (int64, error) {
	var plain syscall.RawConn // what is written goes out there as it is
	if c.lazy != nil {
		plain = c.raw
	}
	return sock.SendAll(c.nc, plain, &c.writing) // which lets go of what it has written
}

// unread is what was received and not yet taken.
func (c *conn) unread() []byte { return c.buf[c.r:c.w] }

// read receives what there is into the free part of buf, which must not be empty. It waits for the first byte until the
// given time: ErrTimeout. When ctx ends, that is the error.
//
// Deadlines are lazy: one that is armed for an earlier time is left alone and, when it strikes, set anew. A stream of
// tokens thus costs no timer.
func (c *conn) read(ctx context.Context, until moment) error {
	if c.readBy == 0 || until < c.readBy {
		c.armRead(until)
		if ctx.Err() != nil {
			return ended(ctx)
		}
	}
	for {
		n, err := c.receive()
		c.w += n
		switch {
		case n > 0:
			return nil // an error comes again with the next read
		case ctx.Err() != nil:
			return ended(ctx)
		case err == nil:
			continue
		case !isTimeout(err):
			return err
		case now() >= until:
			return fmt.Errorf("%w: nothing came", ErrTimeout)
		}
		c.armRead(until)
		if ctx.Err() != nil { // its interrupt may have come before, and be undone
			return ended(ctx)
		}
	}
}

// receive is one read into the free part of buf.
func (c *conn) receive() (int, error) {
	if c.lazy == nil || c.w > 0 {
		return c.nc.Read(c.buf[c.w:])
	}
	c.got, c.lazyErr = 0, nil
	err := c.raw.Read(c.lazy)
	if c.fixed == nil {
		c.hold()
	}
	switch {
	case err != nil && c.toSend && !isTimeout(err):
		return 0, errStale
	case err != nil:
		return 0, err
	case c.lazyErr != nil:
		return 0, c.lazyErr
	case c.got == 0:
		return 0, io.EOF
	}
	return c.got, nil
}

func (c *conn) armRead(until moment) {
	c.readBy = until
	_ = c.nc.SetReadDeadline(until.time()) // fails on a closed connection, as the read will
}

package server

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"octet/internal/http1/lifetime"
	"octet/internal/http1/sock"
)

// What is known of the peer, as bits.
const (
	gone uint32 = 1 << iota // it has closed its side, or reset
	// the rest of a request's body is still to come: its reader learns that the peer is gone, and the context lives on
	bodyDue
	closes      // Close has struck
	leaving     // it is to make room for another, as soon as it has no request
	interrupted // Interrupt has: the body's reader is not to wait any more
)

// link is the transport under a connection, and how long it is waited for. The connection's goroutine owns it; peer,
// ctx and nc's deadlines are safe for others, which wake that goroutine so.
type link struct {
	nc   net.Conn
	raw  syscall.RawConn // nil: nc is read by blocking, with a buffer held
	fd   uintptr         // under raw, as long as nc is not closed
	peer atomic.Uint32
	ctx  lifetime.Context // of the connection's requests

	limit      time.Time // until when the bytes that are waited for must come; zero means never
	armed      time.Time // when a read will fail as set on nc; at or before limit, but for what is lazy
	writeBy    time.Time // as limit, for writes
	writeArmed time.Time

	within bool                  // the connection's ready runs, and what it calls: nothing else reads or writes
	into   func(fd uintptr) bool // receives into target; sets got or failed
	target []byte
	got    int
	failed error
}

// arm has reads fail at limit, unless they are to fail earlier as it is.
func (l *link) arm() {
	if !l.limit.IsZero() && (l.armed.IsZero() || l.limit.Before(l.armed)) {
		l.armed = l.limit
		_ = l.nc.SetReadDeadline(l.armed) // fails on a closed connection, as the read will
	}
}

// again says whether a read that failed is to be tried again: a deadline struck that is not the true one, and is set
// anew.
func (l *link) again(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || !l.limit.IsZero() && !time.Now().Before(l.limit) {
		return false
	}
	l.armed = l.limit
	_ = l.nc.SetReadDeadline(l.armed) // fails on a closed connection, as the read will
	return l.peer.Load()&(closes|interrupted) == 0
}

// receive waits for bytes for p, until limit.
func (l *link) receive(p []byte) (int, error) {
	for {
		n, err := l.readInto(p)
		if n > 0 || err == nil || !l.again(err) {
			return n, err
		}
	}
}

func (l *link) readInto(p []byte) (int, error) {
	if l.raw == nil {
		l.arm()
		if l.peer.Load()&interrupted != 0 {
			return 0, os.ErrDeadlineExceeded
		}
		return l.nc.Read(p)
	}
	l.target, l.got, l.failed = p, 0, nil
	err := l.raw.Read(l.into)
	l.target = nil
	switch {
	case err != nil:
		return 0, err
	case l.failed != nil:
		return 0, l.failed
	case l.got == 0:
		return 0, io.EOF
	}
	return l.got, nil
}

// fill receives more into buf.
func (c *conn) fill() error {
	n, err := c.receive(c.room())
	c.w += n
	if n > 0 {
		return nil // an error comes again with the next read
	}
	return err
}

// send writes b before writeBy, and at once where there is room.
func (l *link) send(b []byte) error {
	if l.within {
		n, errno := sock.Write(l.fd, b)
		switch {
		case errno == 0 && n == len(b):
			return nil
		case errno != 0 && errno != syscall.EAGAIN:
			return l.lost(os.NewSyscallError("write", errno))
		}
		b = b[n:]
	}
	l.armWrite()
	for {
		n, err := sock.Send(l.nc, l.raw, b)
		if err == nil {
			return nil
		}
		b = b[n:]
		if !l.writeAgain(err) {
			return l.lost(err)
		}
	}
}

// sendAll is send for the segments, with one system call unless the socket is full. It uses up the slice.
func (l *link) sendAll(segments *net.Buffers) error {
	if l.within {
		_, left, errno := sock.WriteParts(l.fd, *segments)
		if errno == 0 {
			return nil
		}
		if errno != syscall.EAGAIN {
			return l.lost(os.NewSyscallError("write", errno))
		}
		*segments = left
	}
	l.armWrite()
	for {
		_, err := sock.SendAll(l.nc, l.raw, segments)
		if err == nil {
			return nil
		}
		if !l.writeAgain(err) {
			return l.lost(err)
		}
	}
}

func (l *link) armWrite() {
	if !l.writeBy.IsZero() && (l.writeArmed.IsZero() || l.writeBy.Before(l.writeArmed)) {
		l.writeArmed = l.writeBy
		_ = l.nc.SetWriteDeadline(l.writeArmed) // fails on a closed connection, as the write will
	}
}

// writeAgain is as again, for writes.
func (l *link) writeAgain(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || !l.writeBy.IsZero() && !time.Now().Before(l.writeBy) {
		return false
	}
	l.writeArmed = l.writeBy
	_ = l.nc.SetWriteDeadline(l.writeArmed) // fails on a closed connection, as the write will
	return l.peer.Load()&closes == 0
}

// lost ends the request's context where a write found that the client is gone, not where it is slow.
func (l *link) lost(err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		l.ctx.Cancel(nil)
	}
	return err
}

// How long and how much is read of what a client still sends when its connection is to be closed, so that the close is
// not a reset that takes the answer with it.
const (
	goodbyeTime  = 500 * time.Millisecond
	goodbyeBytes = 1 << 20
)

// sayGoodbye closes the sending side and reads on for a while.
func (c *conn) sayGoodbye() {
	half, ok := c.nc.(halfCloser)
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.r, c.w = 0, 0
	c.limit = time.Now().Add(goodbyeTime)
	for read := 0; read < goodbyeBytes; {
		n, err := c.receive(c.room())
		if err != nil {
			return
		}
		read += n
	}
}

package server

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"octet/internal/http1/sock"
)

// arm has reads fail at limit, unless they are to fail earlier as it is.
func (c *conn) arm() {
	if !c.limit.IsZero() && (c.armed.IsZero() || c.limit.Before(c.armed)) {
		c.armed = c.limit
		_ = c.nc.SetReadDeadline(c.armed) // fails on a closed connection, as the read will
	}
}

// again says whether a read that failed is to be tried again: a deadline struck that is not the true one, and is set
// anew.
func (c *conn) again(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || !c.limit.IsZero() && !time.Now().Before(c.limit) {
		return false
	}
	c.armed = c.limit
	_ = c.nc.SetReadDeadline(c.armed) // fails on a closed connection, as the read will
	return c.peer.Load()&(closes|hurried) == 0
}

// receive waits for bytes for p, until limit.
func (c *conn) receive(p []byte) (int, error) {
	for {
		n, err := c.readInto(p)
		if n > 0 || err == nil || !c.again(err) {
			return n, err
		}
	}
}

func (c *conn) readInto(p []byte) (int, error) {
	if c.raw == nil {
		c.arm()
		if c.peer.Load()&hurried != 0 {
			return 0, os.ErrDeadlineExceeded
		}
		return c.nc.Read(p)
	}
	c.target, c.got, c.failed = p, 0, nil
	err := c.raw.Read(c.into)
	c.target = nil
	switch {
	case err != nil:
		return 0, err
	case c.failed != nil:
		return 0, c.failed
	case c.got == 0:
		return 0, io.EOF
	}
	return c.got, nil
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
func (c *conn) send(b []byte) error {
	if c.within {
		n, errno := sock.Write(c.fd, b)
		switch {
		case errno == 0 && n == len(b):
			return nil
		case errno != 0 && errno != syscall.EAGAIN:
			return c.lost(os.NewSyscallError("write", errno))
		}
		b = b[n:]
	}
	c.armWrite()
	for {
		n, err := sock.Send(c.nc, c.raw, b)
		if err == nil {
			return nil
		}
		b = b[n:]
		if !c.writeAgain(err) {
			return c.lost(err)
		}
	}
}

// sendAll is send for the segments, with one system call unless the socket is full. It uses up the slice.
func (c *conn) sendAll(segments *net.Buffers) error {
	if c.within {
		_, left, errno := sock.WriteParts(c.fd, *segments)
		if errno == 0 {
			return nil
		}
		if errno != syscall.EAGAIN {
			return c.lost(os.NewSyscallError("write", errno))
		}
		*segments = left
	}
	c.armWrite()
	for {
		_, err := sock.SendAll(c.nc, c.raw, segments)
		if err == nil {
			return nil
		}
		if !c.writeAgain(err) {
			return c.lost(err)
		}
	}
}

func (c *conn) armWrite() {
	if !c.writeBy.IsZero() && (c.writeArmed.IsZero() || c.writeBy.Before(c.writeArmed)) {
		c.writeArmed = c.writeBy
		_ = c.nc.SetWriteDeadline(c.writeArmed) // fails on a closed connection, as the write will
	}
}

// writeAgain is as again, for writes.
func (c *conn) writeAgain(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || !c.writeBy.IsZero() && !time.Now().Before(c.writeBy) {
		return false
	}
	c.writeArmed = c.writeBy
	_ = c.nc.SetWriteDeadline(c.writeArmed) // fails on a closed connection, as the write will
	return c.peer.Load()&closes == 0
}

// lost ends the request's context where a write found that the client is gone, not where it is slow.
func (c *conn) lost(err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		c.ctx.Cancel(nil)
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
	half, ok := c.nc.(interface{ CloseWrite() error })
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

package front

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"octet/internal/sock"
)

// rawOf returns the descriptor under nc; nil where there is none.
func rawOf(nc net.Conn) syscall.RawConn {
	switch under := nc.(type) {
	case *net.TCPConn:
		raw, _ := under.SyscallConn() // fails on nil alone
		return raw
	case *net.UnixConn:
		raw, _ := under.SyscallConn() // likewise
		return raw
	}
	return nil
}

// read reads once from fd: 0 and io.EOF at the end, EAGAIN where there is nothing yet.
func read(fd uintptr, p []byte) (int, error) {
	n, errno := sock.Read(fd, p)
	switch {
	case errno == syscall.EAGAIN:
		return 0, syscall.EAGAIN
	case errno != 0:
		return 0, os.NewSyscallError("read", errno)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// onReady receives and answers until something else is needed than more bytes. A read that leaves room has taken all there
// was, so the next arrival wakes the poller: no read is made to find nothing. The end of a connection alone may have come
// with the bytes, unnoticed; the watch then sets gone before it wakes this.
func (c *conn) onReady(fd uintptr) bool {
	c.within = true
	done := c.serveReady(fd)
	c.within = false
	return done
}

func (c *conn) serveReady(fd uintptr) bool {
	for {
		room := c.room()
		n, err := read(fd, room)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			return c.parked()
		case err != nil:
			c.failed = err
			return true
		case !c.took(n):
			c.verdict = over
			return true
		}
		if c.verdict = c.advance(); c.verdict != starved {
			return true
		}
		if n < len(room) && c.watched && c.peer.Load() == 0 {
			return c.parked()
		}
	}
}

// parked reports whether not to wait.
func (c *conn) parked() bool {
	if c.park() {
		return false
	}
	c.verdict = over
	return true
}

func (c *conn) onTarget(fd uintptr) bool {
	n, err := read(fd, c.target)
	if errors.Is(err, syscall.EAGAIN) {
		c.arm()
		return false
	}
	c.got, c.failed = n, err
	return true
}

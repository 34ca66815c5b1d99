package server

import (
	"io"
	"net"
	"os"
	"syscall"

	"octet/internal/http1/sock"
)

// rawOf returns the descriptor under nc; nil if it has none.
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

// readError is why a read that took n bytes brought nothing: io.EOF at the end; nil where it did bring something.
func readError(n int, errno syscall.Errno) error {
	switch {
	case errno != 0:
		return os.NewSyscallError("read", errno)
	case n == 0:
		return io.EOF
	}
	return nil
}

// onReady receives and answers until something else is needed than more bytes. A read that leaves room has taken all
// there was, so the next arrival wakes the poller: no read is made to find nothing. The end of a connection alone may
// have come with the bytes, unnoticed; the watch then sets gone before it wakes this. What leaves is read once more:
// bytes may have come before it was to leave, and the close would reset what they ask.
func (c *conn) onReady(fd uintptr) bool {
	c.within = true
	done := c.serveReady(fd)
	c.within = false
	return done
}

func (c *conn) serveReady(fd uintptr) bool {
	last := false // it leaves, with the next read that brings nothing
	for {
		room := c.room()
		n, errno := sock.Read(fd, room)
		if errno != syscall.EAGAIN {
			if c.failed = readError(n, errno); c.failed != nil {
				return true
			}
			c.full = n == len(room)
			c.took(n)
			if c.verdict = c.advance(); c.verdict != starved {
				return true
			}
			if c.full || !c.watched || c.peer.Load() != 0 {
				continue
			}
		}
		switch {
		case c.park():
			if errno == syscall.EAGAIN || c.peer.Load() == 0 {
				return false
			}
			// else the peer has left meanwhile, and what wakes this for it may be undone by the deadline just set
		case last && errno == syscall.EAGAIN:
			c.verdict = over
			return true
		default:
			last = true
		}
	}
}

// reach receives the rest of a body that filled a page, where that is there already and a wide one holds it, so that
// its request is handled as the shorter ones are. It reports whether all of it is at hand then.
func (c *conn) reach() bool {
	b := &c.body
	if !c.within || !c.full || b.chunked || b.expected || b.left > wideSize {
		return false
	}
	if c.wide == nil && c.page != nil {
		c.resize(true)
	}
	if b.left > int64(len(c.buf)-c.r) {
		return false
	}
	n, errno := sock.Read(c.fd, c.buf[c.w:])
	if errno != 0 || n == 0 { // which the next read of the body finds again
		return false
	}
	c.full = c.w+n == len(c.buf)
	c.w += n
	return b.atHand()
}

func (l *link) onTarget(fd uintptr) bool {
	n, errno := sock.Read(fd, l.target)
	if errno == syscall.EAGAIN {
		l.arm()
		if l.peer.Load()&interrupted == 0 {
			return false
		}
		l.failed = os.ErrDeadlineExceeded // its wake may be undone by the deadline just set
		return true
	}
	l.got, l.failed = n, readError(n, errno)
	return true
}

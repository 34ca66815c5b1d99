package client

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"octet/internal/http1/sock"
)

// errStale means that a kept connection cannot be used: its engine has ended it or sent something unasked. Nothing was
// sent.
var errStale = errors.New("the kept connection had ended")

// unsentError is a request of which only so many bytes were sent, for want of room where there is no cause.
type unsentError struct {
	sent  int
	cause error
}

func (e *unsentError) Error() string {
	return fmt.Sprintf("%d bytes were sent: %v", e.sent, e.cause)
}

// A kept connection is looked at before each request, however short it rested. An engine that says more than it was
// asked for, such as an answer to what it took the rest of a body for, says it right behind its answer, and those bytes
// would be the next caller's answer. Nothing else tells of them: the runtime's poller forgets what it heard before a
// wait begins, a second watch would be woken by every answer, and any other question is a system call that costs as
// much.

// ask has the next read send what writing holds, and reports whether it will: c was kept, and lazy knows how to look at
// it.
func (c *conn) ask() bool {
	c.toSend = c.lazy != nil && c.reused
	return c.toSend
}

// onReady reads what there is, into a buffer that is taken for it and given back to wait. Where a request is to be
// sent, it looks first whether the connection is still good, then sends, and then waits: all within one wait of the
// poller. That was made ready before, so nothing that comes after the look goes unnoticed, and no read is made to find
// nothing yet.
func (c *conn) onReady(fd uintptr) bool {
	if c.toSend {
		if !wouldBlock(fd, c.one[:]) {
			c.lazyErr = errStale
			return true
		}
		return c.dispatch(fd)
	}
	if c.fixed == nil {
		c.hold()
	}
	n, errno := sock.Read(fd, c.buf)
	switch errno {
	case 0:
		c.got = n
	case syscall.EAGAIN:
		c.rest()
		return false
	default:
		c.lazyErr = os.NewSyscallError("read", errno)
	}
	return true
}

// dispatch sends what writing holds, and reports false where all of it is out.
func (c *conn) dispatch(fd uintptr) bool {
	c.toSend = false
	n, left, errno := sock.WriteParts(fd, c.writing)
	c.writing = left
	switch errno {
	case 0:
		c.rest()
		return false
	case syscall.EAGAIN:
		c.lazyErr = &unsentError{sent: n}
	default:
		c.lazyErr = &unsentError{n, os.NewSyscallError("write", errno)}
	}
	return true
}

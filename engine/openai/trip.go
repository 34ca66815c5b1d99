package openai

import (
	"errors"
	"os"
	"syscall"

	"octet/internal/sock"
)

var (
	// errStale means that a kept connection cannot be used: its engine has ended it or sent something unasked. Nothing was sent.
	errStale = errors.New("openai: the kept connection had ended")
	// errUnsent means that some of the request is still to be sent, or cannot be: see conn.sent and conn.sendErr.
	errUnsent = errors.New("openai: the request is not sent whole")
)

// onTrip looks whether a kept connection is still good, sends the request, and waits for the answer: all within one wait of the
// poller. That was made ready before, so nothing that comes after the look goes unnoticed, and no read is made to find nothing yet.
func (c *conn) onTrip(fd uintptr) bool {
	if !c.toSend {
		return c.lazy(fd)
	}
	if !wouldBlock(fd, c.one[:]) {
		c.lazyErr = errStale
		return true
	}
	c.toSend = false
	var errno syscall.Errno
	if c.sent, c.writing, errno = sock.WriteParts(fd, c.writing); errno == 0 {
		c.rest()
		return false
	}
	c.lazyErr, c.sendErr = errUnsent, nil
	if errno != syscall.EAGAIN {
		c.sendErr = os.NewSyscallError("write", errno)
	}
	return true
}

// ask has the next read send what writing holds, and reports whether it will: c was kept, and is no stranger to the poller.
func (c *conn) ask() bool {
	c.toSend = c.trip != nil && !c.idleSince.IsZero()
	return c.toSend
}

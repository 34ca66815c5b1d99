//go:build unix

package openai

import (
	"os"
	"syscall"

	"octet/internal/sock"
)

// wouldBlock reports whether a read of fd, which does not block, finds neither bytes nor an end.
func wouldBlock(fd uintptr, into []byte) bool {
	_, errno := sock.Read(fd, into)
	return errno == syscall.EAGAIN
}

// readLazily returns what reads fd into a buffer that is taken when there is something to read, and given back to wait.
func (c *conn) readLazily() func(fd uintptr) bool {
	return func(fd uintptr) bool {
		if c.fixed == nil {
			c.hold()
		}
		n, errno := sock.Read(fd, c.buf)
		if errno == syscall.EAGAIN {
			c.rest()
			return false
		}
		if errno != 0 {
			c.lazyErr = os.NewSyscallError("read", errno)
		}
		c.got = n
		return true
	}
}

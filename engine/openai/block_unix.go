//go:build unix

package openai

import (
	"os"
	"syscall"
)

// wouldBlock reports whether a read of fd, which does not block, finds neither bytes nor an end.
func wouldBlock(fd uintptr, into []byte) bool {
	_, err := syscall.Read(int(fd), into)
	return err == syscall.EAGAIN
}

// readLazily returns what reads fd into a buffer that is taken when there is something to read, and given back to wait.
func (c *conn) readLazily() func(fd uintptr) bool {
	return func(fd uintptr) bool {
		if c.fixed == nil {
			c.hold()
		}
		n, err := syscall.Read(int(fd), c.buf)
		for err == syscall.EINTR {
			n, err = syscall.Read(int(fd), c.buf)
		}
		if err == syscall.EAGAIN {
			c.rest()
			return false
		}
		if err != nil {
			c.lazyErr = os.NewSyscallError("read", err)
		}
		c.got = max(n, 0)
		return true
	}
}

//go:build unix

package client

import (
	"syscall"

	"octet/internal/http1/sock"
)

// looks says whether sockets can be read by their descriptors.
const looks = true

// wouldBlock reports whether a read of fd, which does not block, finds neither bytes nor an end.
func wouldBlock(fd uintptr, into []byte) bool {
	_, errno := sock.Read(fd, into)
	return errno == syscall.EAGAIN
}

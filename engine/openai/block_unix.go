//go:build unix

package openai

import "syscall"

// wouldBlock reports whether a read of fd, which does not block, finds neither bytes nor an end.
func wouldBlock(fd uintptr, into []byte) bool {
	_, err := syscall.Read(int(fd), into)
	return err == syscall.EAGAIN
}

//go:build unix && (!linux || race)

package sock

import (
	"errors"
	"syscall"
)

// told says that the scheduler is told of each call.
const told = true

// Fast says whether sockets can be read and written by their descriptors here.
const Fast = true

// Read reads what there is on fd into p, which must not be empty. 0 without an error is the end.
func Read(fd uintptr, p []byte) (int, syscall.Errno) {
	return again(func() (int, error) { return syscall.Read(int(fd), p) })
}

// Write writes what there is room for.
func Write(fd uintptr, p []byte) (int, syscall.Errno) {
	return again(func() (int, error) { return syscall.Write(int(fd), p) })
}

// gather writes what there is room for of the first part, which is not empty.
func gather(fd uintptr, parts [][]byte) (int, syscall.Errno) { return Write(fd, parts[0]) }

func again(f func() (int, error)) (int, syscall.Errno) {
	for {
		n, err := f()
		var errno syscall.Errno
		switch {
		case err == nil:
			return n, 0
		case !errors.As(err, &errno):
			return 0, syscall.EIO
		case errno != syscall.EINTR:
			return 0, errno
		}
	}
}

//go:build unix && !linux

package openai

import "syscall"

// receive reads what there is on fd, a socket that does not block, into the buffer, which must not be empty: errWouldBlock
// when there is nothing, 0 when there will be nothing any more.
func receive(fd uintptr, into []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), into)
		switch err {
		case nil:
			return n, nil
		case syscall.EINTR:
		case syscall.EAGAIN:
			return 0, errWouldBlock
		default:
			return 0, err
		}
	}
}

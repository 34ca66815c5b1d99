package openai

import (
	"syscall"
	"unsafe"
)

// receive reads what there is on fd, a socket that does not block, into the buffer, which must not be empty: errWouldBlock
// when there is nothing, 0 when there will be nothing any more. The scheduler is not told, as the call never waits.
func receive(fd uintptr, into []byte) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(into))), uintptr(len(into)), 0, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		case syscall.EAGAIN:
			return 0, errWouldBlock
		default:
			return 0, errno
		}
	}
}

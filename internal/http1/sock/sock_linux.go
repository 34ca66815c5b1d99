//go:build linux && !race

package sock

import (
	"syscall"
	"unsafe"
)

// told says that the scheduler is told of each call.
const told = false

// Fast says whether sockets can be read and written by their descriptors here.
const Fast = true

// Read reads what there is on fd into p, which must not be empty. 0 without an error is the end.
func Read(fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))),
			uintptr(len(p)), 0, 0, 0)
		if errno != syscall.EINTR {
			return count(n, errno)
		}
	}
}

// Write writes what there is room for.
func Write(fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))),
			uintptr(len(p)), syscall.MSG_NOSIGNAL, 0, 0)
		if errno != syscall.EINTR {
			return count(n, errno)
		}
	}
}

// gather writes what there is room for of the parts, of which there are 1 to mostParts.
func gather(fd uintptr, parts [][]byte) (int, syscall.Errno) {
	var vector [mostParts]syscall.Iovec
	for i, p := range parts {
		vector[i].Base = unsafe.SliceData(p)
		vector[i].SetLen(len(p))
	}
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&vector)), uintptr(len(parts)))
		if errno != syscall.EINTR {
			return count(n, errno)
		}
	}
}

func count(n uintptr, errno syscall.Errno) (int, syscall.Errno) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

package poll

import (
	"os"
	"syscall"
	"unsafe"
)

// Supported is true where the system has epoll.
const Supported = true

// Edge-triggered events. EPOLLET is written out: syscall's constant is negative.
const (
	edgeTriggered = 1 << 31
	hungUp        = syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR
)

// epoll is one epoll instance. The runtime's poller waits for the instance itself, so waiting holds no thread.
type epoll struct {
	file *os.File
	raw  syscall.RawConn
}

func newEpoll() (epoll, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return epoll{}, os.NewSyscallError("epoll_create1", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil { // so that os.NewFile hands it to the poller
		_ = syscall.Close(fd) // never used
		return epoll{}, os.NewSyscallError("setnonblock", err)
	}
	e := epoll{file: os.NewFile(uintptr(fd), "epoll")}
	if e.raw, err = e.file.SyscallConn(); err != nil {
		_ = e.file.Close() // never used
		return epoll{}, err
	}
	return e, nil
}

// add registers fd for events, edge-triggered; each of them carries id.
func (e epoll) add(fd int, events uint32, id uint64) error {
	event := syscall.EpollEvent{Events: events | edgeTriggered, Fd: int32(uint32(id)), Pad: int32(uint32(id >> 32))}
	failed := os.ErrClosed
	_ = e.raw.Control(func(instance uintptr) { // fails if the instance is closed
		failed = os.NewSyscallError("epoll_ctl", syscall.EpollCtl(int(instance), syscall.EPOLL_CTL_ADD, fd, &event))
	})
	return failed
}

func (e epoll) remove(fd int) {
	_ = e.raw.Control(func(instance uintptr) { // fails if the instance is closed
		_ = syscall.EpollCtl(int(instance), syscall.EPOLL_CTL_DEL, fd, nil) // likewise
	})
}

// idOf returns the id that add was given.
func idOf(e *syscall.EpollEvent) uint64 { return uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32 }

// collect fills events with what is ready on the instance, and returns how many there are. It never waits, so Go's
// scheduler is not told of the call.
func collect(instance uintptr, events []syscall.EpollEvent) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, instance,
			uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
		if errno != syscall.EINTR {
			return int(n), errno
		}
	}
}

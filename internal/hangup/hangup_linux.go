package hangup

import (
	"os"
	"syscall"

	"octet/internal/contain"
)

// Supported says whether a Watch can be had on this system.
const Supported = true

// Watch is one epoll instance for all its connections, each registered once, edge-triggered, for nothing but the end:
// what arrives on a connection does not wake it. The instance itself is waited for in the runtime's poller, so no
// thread is held.
type Watch struct {
	file   *os.File
	raw    syscall.RawConn
	report func(id uint64)
	events [64]syscall.EpollEvent // owned by run
}

// New returns a Watch that calls report from a goroutine of its own. It has to be closed.
func New(report func(id uint64)) (*Watch, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil { // so that os.NewFile hands it to the poller
		_ = syscall.Close(fd) // never used
		return nil, os.NewSyscallError("setnonblock", err)
	}
	w := &Watch{file: os.NewFile(uintptr(fd), "epoll"), report: report}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		_ = w.file.Close() // never used
		return nil, err
	}
	go w.run()
	return w, nil
}

func (w *Watch) run() { _ = w.raw.Read(w.collect) } // until Close

func (w *Watch) collect(fd uintptr) (over bool) {
	for {
		n, err := syscall.EpollWait(int(fd), w.events[:], 0)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return true
		}
		for _, e := range w.events[:n] {
			contain.Do(contain.Watch, func() { w.report(uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32) })
		}
		if n < len(w.events) {
			return false
		}
	}
}

const edgeTriggered = 1 << 31 // syscall's constant is negative

// Add watches raw until it is closed, and reports whether it does. An id that is never used twice makes sure that a
// late report meets no other connection.
func (w *Watch) Add(raw syscall.RawConn, id uint64) bool {
	event := syscall.EpollEvent{Events: syscall.EPOLLRDHUP | edgeTriggered, Fd: int32(uint32(id)),
		Pad: int32(uint32(id >> 32))}
	added := false
	_ = w.raw.Control(func(epoll uintptr) { // fails on what is closed
		_ = raw.Control(func(fd uintptr) {
			added = syscall.EpollCtl(int(epoll), syscall.EPOLL_CTL_ADD, int(fd), &event) == nil
		})
	})
	return added
}

// Close ends the watch, and waits for a report under way: it must not be called from one, nor under a lock that report
// takes.
func (w *Watch) Close() { _ = w.file.Close() }

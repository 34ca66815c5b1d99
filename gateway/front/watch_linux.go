package front

import (
	"os"
	"syscall"
)

// Supported says whether this system lets one goroutine learn of every client that leaves.
const Supported = true

// watch learns which peers have closed their side, or have reset: one epoll instance for all connections, each registered
// once, edge-triggered, for nothing but that. What arrives on a connection does not wake it. The instance itself is waited
// for in the runtime's poller, so no thread is held.
type watch struct {
	file   *os.File
	raw    syscall.RawConn
	ended  chan struct{}
	report func(id uint64)
	events [64]syscall.EpollEvent // owned by run
}

func newWatch(report func(id uint64)) (*watch, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil { // so that os.NewFile hands it to the poller
		_ = syscall.Close(fd) // never used
		return nil, os.NewSyscallError("setnonblock", err)
	}
	w := &watch{file: os.NewFile(uintptr(fd), "epoll"), ended: make(chan struct{}), report: report}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		_ = w.file.Close() // never used
		return nil, err
	}
	go w.run()
	return w, nil
}

func (w *watch) run() {
	defer close(w.ended)
	_ = w.raw.Read(w.collect) // until close
}

func (w *watch) collect(fd uintptr) (over bool) {
	for {
		n, err := syscall.EpollWait(int(fd), w.events[:], 0)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return true
		}
		for _, e := range w.events[:n] {
			w.report(uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32)
		}
		if n < len(w.events) {
			return false
		}
	}
}

// add watches raw until it is closed, and reports whether it does. Ids are never used twice, so a late report cannot meet
// another connection.
func (w *watch) add(raw syscall.RawConn, id uint64) bool {
	if raw == nil {
		return false
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLRDHUP | edgeTriggered, Fd: int32(uint32(id)), Pad: int32(uint32(id >> 32))}
	added := false
	_ = w.raw.Control(func(epoll uintptr) { // fails on what is closed
		_ = raw.Control(func(fd uintptr) {
			added = syscall.EpollCtl(int(epoll), syscall.EPOLL_CTL_ADD, int(fd), &event) == nil
		})
	})
	return added
}

const edgeTriggered = 1 << 31 // syscall's constant is negative

// close ends the watch, and waits for the last report.
func (w *watch) close() {
	_ = w.file.Close() // nobody else does
	<-w.ended
}

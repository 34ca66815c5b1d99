package poll

import (
	"syscall"

	"octet/internal/http1/guard"
)

// Watch reports connections whose peer has closed or reset them, whether or not anything reads them. All its
// connections share one epoll instance. Each is registered once, for nothing but its end: bytes that arrive do not wake
// the Watch.
//
// With it a reader need not look, after a read that took all there was, for more: the runtime's poller tells of the
// next bytes. Only an end that came together with the last bytes would go unnoticed, and that one the Watch reports.
type Watch struct {
	epoll
	report func(id uint64)
	panics guard.Report
	events [64]syscall.EpollEvent // owned by run
}

// NewWatch returns a Watch that calls report from a goroutine of its own; panics is told of those of report. It has to
// be closed.
func NewWatch(report func(id uint64), panics guard.Report) (*Watch, error) {
	e, err := newEpoll()
	if err != nil {
		return nil, err
	}
	w := &Watch{epoll: e, report: report, panics: panics}
	go w.run()
	return w, nil
}

func (w *Watch) run() { _ = w.raw.Read(w.serve) } // until Close

func (w *Watch) serve(instance uintptr) (over bool) {
	for {
		n, errno := collect(instance, w.events[:])
		if errno != 0 {
			return true
		}
		for i := range w.events[:n] {
			w.panics.Do(guard.Watch, func() { w.report(idOf(&w.events[i])) })
		}
		if n < len(w.events) {
			return false
		}
	}
}

// Add watches raw until it is closed, and returns true if it does. An id is never used twice, so a late report cannot
// meet another connection.
func (w *Watch) Add(raw syscall.RawConn, id uint64) bool {
	added := false
	_ = raw.Control(func(fd uintptr) { // fails if raw is closed
		added = w.add(int(fd), syscall.EPOLLRDHUP, id) == nil
	})
	return added
}

// Close ends the watch, and waits for a report under way: it must not be called from one, nor under a lock that report
// takes.
func (w *Watch) Close() { _ = w.file.Close() }

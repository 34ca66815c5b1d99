package poll

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"octet/internal/http1/guard"
)

// batch is how many streams have a turn before others than the loop get to run.
const batch = 64

// Loop is an epoll instance, edge-triggered, and the goroutine that serves it. The instance itself is waited for in the
// runtime's poller, so no thread is held.
type Loop struct {
	epoll
	over   sync.WaitGroup // of run
	panics guard.Report

	mu     sync.Mutex
	slots  []*slot // guarded by mu, as the next three
	free   []int32
	open   int
	closed bool

	events [batch]syscall.EpollEvent // owned by run, as all below
	turns  []turn
	again  []*slot
	page   [PageSize]byte
}

type slot struct {
	stream Stream
	fd     int
	at     int32 // in slots
	idle   time.Duration
	heard  bool      // since the last sweep
	since  time.Time // of the last sweep after which it was heard
	gone   bool
}

type turn struct {
	slot *slot
	hung bool
}

// NewLoop returns a Loop; panics is told of those of End, and of its own. It has to be closed.
func NewLoop(panics guard.Report) (*Loop, error) {
	e, err := newEpoll()
	if err != nil {
		return nil, err
	}
	l := &Loop{epoll: e, panics: panics}
	l.over.Go(l.run)
	return l, nil
}

// Add has s called when fd can be read, until it leaves, or has been silent for idle. False: it is not the loop's.
func (l *Loop) Add(fd uintptr, s Stream, idle time.Duration) bool {
	k := &slot{stream: s, fd: int(fd), idle: idle, since: time.Now()}
	if !l.enter(k) {
		return false
	}
	err := l.add(k.fd, syscall.EPOLLIN|syscall.EPOLLRDHUP, uint64(k.at))
	return err == nil || !l.exit(k) // a stream that has ended already is not given back
}

func (l *Loop) enter(k *slot) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if n := len(l.free); n > 0 {
		k.at, l.free = l.free[n-1], l.free[:n-1]
		l.slots[k.at] = k
	} else {
		k.at = int32(len(l.slots))
		l.slots = append(l.slots, k)
	}
	if l.open++; l.open == 1 {
		_ = l.file.SetReadDeadline(time.Now().Add(Sweep)) // fails on what is closed
	}
	return true
}

// exit reports whether k was there. Its place may be another's from now on: an event that is still told of it wakes
// that one in vain, and what is kept in turns and again is the slot itself, which is never used again.
func (l *Loop) exit(k *slot) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slots[k.at] != k {
		return false
	}
	l.slots[k.at] = nil
	l.free = append(l.free, k.at)
	l.open--
	return true
}

// Close ends the loop, and its streams with ErrClosed. It waits for that, and must not be called by a Stream.
func (l *Loop) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	_ = l.file.Close() // a second time fails
	l.over.Wait()
}

func (l *Loop) run() {
	for {
		err := l.wait()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		l.panics.Do(guard.Stream, func() { l.sweep(time.Now()) })
	}
	for _, k := range l.all() {
		l.end(k, ErrClosed)
	}
}

// wait serves until the next sweep is due, or the loop ends. A panic of the loop's own ends the round: what it has
// missed is found, or ended, by the sweep.
func (l *Loop) wait() (err error) {
	defer l.panics.End(guard.Stream, func() { err = os.ErrDeadlineExceeded })
	return l.raw.Read(l.serve)
}

func (l *Loop) all() (list []*slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.slots {
		if k != nil {
			list = append(list, k)
		}
	}
	return list
}

// sweep ends the streams that were silent for too long.
func (l *Loop) sweep(now time.Time) {
	for _, k := range l.all() {
		switch {
		case k.heard:
			k.heard, k.since = false, now
		case now.Sub(k.since) >= k.idle:
			l.end(k, ErrIdle)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next := time.Time{}
	if l.open > 0 {
		next = now.Add(Sweep)
	}
	_ = l.file.SetReadDeadline(next) // fails on what is closed
}

// serve gives a turn to each stream for which something has come, until nothing has. It returns true at the loop's end.
func (l *Loop) serve(instance uintptr) bool {
	for {
		n, errno := collect(instance, l.events[:])
		if errno != 0 {
			return true
		}
		waiting := l.again
		l.again = nil
		l.look(n)
		for _, t := range l.turns {
			l.turn(t.slot, t.hung)
		}
		clear(l.turns)
		for _, k := range waiting {
			l.turn(k, false)
		}
		if len(l.again) == 0 && n < batch {
			return false
		}
		runtime.Gosched()
	}
}

// look sets turns to whose the first n events are.
func (l *Loop) look(n int) {
	l.turns = l.turns[:0]
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.events[:n] {
		e := &l.events[i]
		if k := l.slots[idOf(e)]; k != nil {
			l.turns = append(l.turns, turn{k, e.Events&hungUp != 0})
		}
	}
}

func (l *Loop) turn(k *slot, hung bool) {
	if k.gone {
		return
	}
	k.heard = true
	next, why := l.guard(k, hung)
	switch next {
	case More:
		l.again = append(l.again, k)
	case Leave:
		l.end(k, why)
	case Wait:
	}
}

func (l *Loop) guard(k *slot, hung bool) (next Next, why error) {
	defer func() {
		if p := recover(); p != nil {
			next, why = Leave, &Panic{p, debug.Stack()}
		}
	}()
	return k.stream.Ready(l.page[:], hung), nil
}

// end lets go of k.
func (l *Loop) end(k *slot, why error) {
	k.gone = true
	if !l.exit(k) {
		return
	}
	l.remove(k.fd)
	l.panics.Do(guard.Stream, func() { k.stream.End(why) })
}

package poll

import (
	"runtime"
	"sync"
	"time"

	"octet/internal/http1/guard"
)

// Loops are as many loops as there are processors, each begun when it is first wanted. The zero value is ready; a nil
// one takes no stream.
type Loops struct {
	Panics guard.Report // is told of the panics that are contained

	mu     sync.Mutex
	loops  []*Loop // guarded by mu, as the rest
	next   int
	closed bool
}

// Add is Loop's, of one of them.
func (l *Loops) Add(fd uintptr, s Stream, idle time.Duration) bool {
	loop := l.pick()
	return loop != nil && loop.Add(fd, s, idle)
}

func (l *Loops) pick() *Loop {
	if l == nil || !Supported {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	if len(l.loops) < runtime.GOMAXPROCS(0) {
		loop, err := NewLoop(l.Panics)
		if err != nil {
			return nil // its streams do without
		}
		l.loops = append(l.loops, loop)
	}
	l.next = (l.next + 1) % len(l.loops)
	return l.loops[l.next]
}

// Close ends all loops.
func (l *Loops) Close() {
	l.mu.Lock()
	loops := l.loops
	l.closed, l.loops = true, nil
	l.mu.Unlock()
	for _, loop := range loops {
		loop.Close()
	}
}

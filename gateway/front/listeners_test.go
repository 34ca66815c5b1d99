package front

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a server that serves until it is closed, and notes what it is told.
type fake struct {
	fails    error         // of Serve, at once
	lingers  time.Duration // of Shutdown
	closed   chan struct{}
	onceOnly sync.Once

	mu    sync.Mutex
	calls []string // guarded by mu
}

func newFake() *fake { return &fake{closed: make(chan struct{})} }

func (f *fake) note(call string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
}

func (f *fake) Serve(net.Listener) error {
	if f.fails != nil {
		return f.fails
	}
	<-f.closed
	return errors.New("closed")
}

func (f *fake) Shutdown(ctx context.Context) error {
	f.note("shutdown")
	select {
	case <-time.After(f.lingers):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fake) Close() error {
	f.note("close")
	f.onceOnly.Do(func() { close(f.closed) })
	return nil
}

// work are requests that end at a time, unless they are cut.
type work struct {
	ends time.Time
	cut  bool
}

func (w *work) Ended() bool { return w.cut || !time.Now().Before(w.ends) }
func (w *work) Cut()        { w.cut = true }

// drained serves two fakes until it has drained work, and returns how long that took.
func drained(t *testing.T, data *fake, takes, grace time.Duration) (w *work, took time.Duration) {
	t.Helper()
	admin := newFake()
	l := &Listeners{Data: data, Admin: admin, Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Serve(ctx, nil, nil); err != nil {
		t.Errorf("served: %v", err)
	}
	began := time.Now()
	w = &work{ends: began.Add(takes)}
	if err := l.Drain(grace, w); err != nil {
		t.Errorf("drained: %v", err)
	}
	if len(data.calls) != 2 || data.calls[0] != "shutdown" || data.calls[1] != "close" || len(admin.calls) != 1 {
		t.Errorf("the data server was told %v, the admin server %v", data.calls, admin.calls)
	}
	return w, time.Since(began)
}

func TestADrainWaitsForOpenRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, took := drained(t, newFake(), 3*time.Second, time.Minute)
		if w.cut || took != 3*time.Second {
			t.Errorf("cut: %v, after %v", w.cut, took)
		}
	})
}

func TestADrainCutsRequestsAfterItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, took := drained(t, newFake(), time.Hour, 5*time.Second)
		if !w.cut || took != 5*time.Second {
			t.Errorf("cut: %v, after %v", w.cut, took)
		}
	})
}

// A client that takes no answer does not make the drain a failure.
func TestADrainDoesNotWaitForClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := newFake()
		data.lingers = time.Hour
		if _, took := drained(t, data, 0, time.Minute); took != lastWords {
			t.Errorf("it took %v", took)
		}
	})
}

func TestAListenersFailureIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data, failure := newFake(), errors.New("no descriptors")
		data.fails = failure
		l := &Listeners{Data: data, Admin: newFake(), Log: slog.New(slog.DiscardHandler)}
		if err := l.Serve(t.Context(), nil, nil); !errors.Is(err, failure) {
			t.Errorf("%v", err)
		}
		if err := l.Drain(time.Second, &work{}); err != nil {
			t.Errorf("drained: %v", err)
		}
	})
}

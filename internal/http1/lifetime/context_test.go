package lifetime

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// counter is a Listener.
type counter struct{ told atomic.Int32 }

func (c *counter) ContextEnded() { c.told.Add(1) }

// tree is a parent, a child of it and a grandchild, of which the child and the grandchild may be ours.
type tree struct {
	ctx    [3]context.Context
	cancel [3]func(error)
	cause  [3]func() error
}

func standard(parent context.Context) (context.Context, func(error), func() error) {
	ctx, cancel := context.WithCancelCause(parent)
	return ctx, cancel, func() error { return context.Cause(ctx) }
}

func own(parent context.Context) (context.Context, func(error), func() error) {
	c := new(Context)
	c.Begin(parent)
	return c, func(why error) { c.Cancel(why) }, func() error { return Cause(c) }
}

func grow(parent context.Context, build func(context.Context) (context.Context, func(error), func() error)) (t tree) {
	t.ctx[0], t.cancel[0], t.cause[0] = standard(parent)
	for i := 1; i < 3; i++ {
		t.ctx[i], t.cancel[i], t.cause[i] = build(t.ctx[i-1]) //nolint:fatcontext // a chain of three is what is tested
	}
	return t
}

// seen is what can be seen of a tree.
type seen struct {
	err, cause [3]error
	done       [3]bool
	told       [3]int32
}

var reasons = []error{errors.New("first"), errors.New("second"), nil}

// play does the same to a tree, whichever it is: watches and cancels at random, and lets a deadline strike.
func play(seed uint64, build func(context.Context) (context.Context, func(error), func() error)) (s seen) {
	rng := rand.New(rand.NewPCG(seed, 1))
	parent, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	t := grow(parent, build)
	var counters [3]counter
	var stops []func() bool
	for range rng.IntN(8) {
		switch i := rng.IntN(3); rng.IntN(6) {
		case 0:
			t.cancel[i](reasons[rng.IntN(3)])
		case 1:
			stops = append(stops, context.AfterFunc(t.ctx[i], counters[i].ContextEnded))
		case 2:
			w := Listen(t.ctx[i], &counters[i])
			stops = append(stops, w.Stop)
		case 3:
			_ = t.ctx[i].Done()
		case 4:
			if len(stops) > 0 {
				stops[rng.IntN(len(stops))]()
			}
		case 5:
			time.Sleep(time.Duration(rng.IntN(3)) * 40 * time.Second)
		}
		synctest.Wait()
	}
	for i := range 3 {
		s.err[i], s.cause[i] = t.ctx[i].Err(), t.cause[i]()
		select {
		case <-t.ctx[i].Done():
			s.done[i] = true
		default:
		}
		s.told[i] = counters[i].told.Load()
	}
	for i := range 3 {
		t.cancel[i](nil)
	}
	synctest.Wait()
	return s
}

func TestItIsTheStandardContextToWhoeverLooks(t *testing.T) {
	for seed := range uint64(3000) {
		var want, got seen
		synctest.Test(t, func(*testing.T) { want = play(seed, standard) })
		synctest.Test(t, func(*testing.T) { got = play(seed, own) })
		if got != want {
			t.Fatalf("seed %d: %+v, want %+v", seed, got, want)
		}
	}
}

// Listening and taking that back race with the end: each listener is told once, or told that it will not be.
func TestEachListenerIsToldOnceOrNever(t *testing.T) {
	for range 300 {
		var parent, c Context
		parent.Begin(context.Background())
		c.Begin(&parent)
		var counters [4]counter
		var never [4]bool
		var working sync.WaitGroup
		working.Go(func() { parent.Cancel(nil) })
		for i := range counters {
			working.Go(func() {
				w := Listen(&c, &counters[i])
				if i%2 == 0 {
					never[i] = w.Stop()
				}
			})
		}
		working.Wait()
		c.Cancel(nil)
		for i := range counters {
			want := int32(1)
			if never[i] {
				want = 0
			}
			for until := time.Now().Add(5 * time.Second); counters[i].told.Load() != want && time.Now().Before(until); {
				time.Sleep(time.Microsecond)
			}
			if got := counters[i].told.Load(); got != want {
				t.Fatalf("listener %d was told %d times, want %d", i, got, want)
			}
		}
	}
}

// What is cancelled leaves nothing with its parent.
func TestACancelledContextLeavesItsParent(t *testing.T) {
	var parent Context
	parent.Begin(context.Background())
	for range 10 {
		var c Context
		c.Begin(&parent)
		w := Listen(&c, new(counter))
		w.Stop()
		c.Cancel(nil)
	}
	if parent.first != nil || len(parent.others) > 0 {
		t.Error("it listens on")
	}
}

func TestWatchingATurnAllocatesNothing(t *testing.T) {
	var parent, c Context
	parent.Begin(context.Background())
	c.Begin(&parent)
	l := new(counter)
	if n := testing.AllocsPerRun(100, func() {
		w := Listen(&c, l)
		if !w.Stop() {
			t.Error("told")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// The end of a parent that comes while its child is cancelled, and is heard late, changes nothing but the child: what
// is begun next stays.
func TestALateEndChangesNothing(t *testing.T) {
	ends := map[string]func() (context.Context, func()){
		"of another make": func() (context.Context, func()) { return context.WithCancel(t.Context()) },
		"of ours": func() (context.Context, func()) {
			c := new(Context)
			c.Begin(t.Context())
			return c, func() { c.Cancel(nil) }
		},
	}
	for name, parent := range ends {
		var late sync.WaitGroup
		for range 5000 {
			ctx, end := parent()
			first := new(Context)
			first.Begin(ctx)
			w := Listen(first, silent{})
			late.Go(end)
			first.Cancel(nil)
			w.Stop()
			next := new(Context)
			next.Begin(t.Context())
			runtime.Gosched()
			if next.Err() != nil {
				t.Fatalf("a parent %s: the next context has ended: %v", name, next.Err())
			}
			next.Cancel(nil)
		}
		late.Wait()
	}
}

// silent is a Listener that does nothing.
type silent struct{}

func (silent) ContextEnded() {}

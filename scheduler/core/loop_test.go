package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"octet/kvpool"
	"octet/scheduler"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// timed is an engine whose steps take a time, and which fails, hangs or lies when told to.
type timed struct {
	*paged
	step  time.Duration
	fault func(b Batch) ([]Result, error) // instead of computing; nil results and error are no fault
	steps int                             // read when the bubble is quiet
}

func (e *timed) Step(ctx context.Context, b Batch) ([]Result, error) {
	e.steps++
	select {
	case <-time.After(e.step):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e.fault != nil {
		if rs, err := e.fault(b); rs != nil || err != nil {
			return rs, err
		}
	}
	return e.paged.Step(ctx, b)
}

var loopSize = Config{Blocks: 64, BlockSize: 4, MaxRunning: 8, MaxWaiting: 64, TokenBudget: 64}

// bubble runs f with a Loop over a timed engine in a bubble of virtual time, and ends the Loop after it.
func bubble(t *testing.T, size Config, f func(t *testing.T, l *Loop, e *timed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := &timed{paged: newPaged(size.Blocks, size.BlockSize), step: 10 * time.Millisecond}
		start := time.Now()
		l, err := NewLoop(LoopConfig{Core: size, Now: func() scheduler.Time { return time.Since(start) }}, e)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Run(ctx) }()
		f(t, l, e)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		if err := l.core.Check(); err != nil {
			t.Error(err)
		}
	})
}

func asking(id uint64, prompt, n int) Request {
	tokens := make([]uint32, prompt)
	for i := range tokens {
		tokens[i] = uint32(id)*1000 + uint32(i)
	}
	return Request{ID: id, Tokens: tokens, MaxNew: n, Root: 1}
}

func submit(t *testing.T, l *Loop, r Request) *Stream {
	t.Helper()
	r.Tokens = slices.Clone(r.Tokens)
	s, err := l.Submit(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// listen reads s to its end.
func listen(s *Stream) (tokens []uint32, err error) {
	for {
		o, err := s.Next(context.Background())
		if err != nil {
			return tokens, err
		}
		if o.Index != len(tokens) {
			return tokens, fmt.Errorf("token %d came as number %d", o.Index, len(tokens))
		}
		tokens = append(tokens, o.Token)
	}
}

func wantWhole(t *testing.T, s *Stream, r Request) {
	t.Helper()
	tokens, err := listen(s)
	if err != io.EOF || !slices.Equal(tokens, alone(r)) {
		t.Errorf("%d said %v (%v), want %v", r.ID, tokens, err, alone(r))
	}
}

func TestLoopStreamsEachRequestToItsEnd(t *testing.T) {
	bubble(t, loopSize, func(t *testing.T, l *Loop, e *timed) {
		var streams []*Stream
		var requests []Request
		for id := range uint64(20) {
			r := asking(id, 5+int(id)%7, 1+int(id)%9)
			r.Draft = int(id) % 3
			requests = append(requests, r)
			streams = append(streams, submit(t, l, r))
		}
		for i, s := range streams {
			wantWhole(t, s, requests[i])
			if _, err := s.Next(t.Context()); err != io.EOF {
				t.Errorf("after the end: %v", err)
			}
		}
		if s := l.Stats(); s.Finished != 20 || s.Free != s.Total || s.Running+s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// MEGA-28: a request that comes in mid-answer does not wait for the answer's end.
func TestNewRequestJoinsTheRollingBatch(t *testing.T) {
	bubble(t, loopSize, func(t *testing.T, l *Loop, e *timed) {
		long := submit(t, l, asking(1, 4, 100))
		time.Sleep(45 * time.Millisecond)
		start := time.Now()
		if _, err := submit(t, l, asking(2, 4, 5)).Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 20*time.Millisecond {
			t.Errorf("the first token took %v, the step under way and one more take at most 20ms", took)
		}
		long.Cancel()
	})
}

func TestLoopStreamsAcrossAnEngineFailure(t *testing.T) {
	bubble(t, loopSize, func(t *testing.T, l *Loop, e *timed) {
		broken := errors.New("out of memory")
		e.fault = func(b Batch) ([]Result, error) {
			if b.Adapter == "bad" {
				return nil, broken
			}
			return nil, nil
		}
		good, bad, late := asking(1, 6, 9), asking(2, 6, 9), asking(3, 6, 9)
		bad.Adapter = "bad"
		a, b := submit(t, l, good), submit(t, l, bad)
		if tokens, err := listen(b); !errors.Is(err, scheduler.ErrEngine) || !errors.Is(err, broken) {
			t.Errorf("the failed stream said %v and ended with %v", tokens, err)
		}
		wantWhole(t, a, good)
		wantWhole(t, submit(t, l, late), late)
		if s := l.Stats(); s.Free != s.Total {
			t.Errorf("blocks leaked: %+v", s)
		}
	})
}

func TestMalformedResultsAreAnEngineFailure(t *testing.T) {
	for name, lie := range map[string]func(rs []Result) []Result{
		"none":              func(rs []Result) []Result { return rs[:0] },
		"of another":        func(rs []Result) []Result { rs[0].ID++; return rs },
		"without a token":   func(rs []Result) []Result { rs[0].Tokens = nil; return rs },
		"with one too many": func(rs []Result) []Result { rs[0].Tokens = []uint32{1, 2}; return rs },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, loopSize, func(t *testing.T, l *Loop, e *timed) {
				e.fault = func(b Batch) ([]Result, error) {
					rs, _ := e.paged.Step(t.Context(), b)
					return lie(rs), nil
				}
				if _, err := listen(submit(t, l, asking(1, 6, 9))); !errors.Is(err, scheduler.ErrEngine) {
					t.Errorf("ended with %v", err)
				}
				e.fault = nil
				wantWhole(t, submit(t, l, asking(2, 6, 9)), asking(2, 6, 9))
			})
		})
	}
}

func TestCancelFreesBlocksInMidStep(t *testing.T) {
	bubble(t, loopSize, func(t *testing.T, l *Loop, e *timed) {
		e.step = time.Hour
		s := submit(t, l, asking(1, 40, 9))
		synctest.Wait()
		if free := l.Stats().Free; free != 64-11 {
			t.Fatalf("%d blocks free while it runs", free)
		}
		s.Cancel()
		s.Cancel()
		synctest.Wait()
		if got := l.Stats(); got.Free != got.Total || got.Running != 0 {
			t.Errorf("after the cancel: %+v", got)
		}
		if _, err := s.Next(t.Context()); err != scheduler.ErrCancelled {
			t.Errorf("the stream ended with %v", err)
		}
	})
}

func TestCancelAfterTheEndChangesNothing(t *testing.T) {
	bubble(t, loopSize, func(t *testing.T, l *Loop, e *timed) {
		r := asking(1, 6, 3)
		s := submit(t, l, r)
		time.Sleep(time.Second)
		s.Cancel()
		wantWhole(t, s, r)
		again := submit(t, l, r) // the id is free again, and the old stream cannot cancel its successor
		s.Cancel()
		wantWhole(t, again, r)
	})
}

// Between the cancel and the loop's hearing of it tokens may come, and the id may already be another's.
func TestLateNewsOfACancelledStreamIsIgnored(t *testing.T) {
	l, err := NewLoop(LoopConfig{Core: loopSize, Now: func() scheduler.Time { return 1 }}, &timed{})
	if err != nil {
		t.Fatal(err)
	}
	stream := func() *Stream {
		return &Stream{id: 1, loop: l, accepted: make(chan error, 1), mail: make(chan struct{}, 1)}
	}
	first, second := stream(), stream()
	first.deliver(Output{Token: 5})
	first.end(scheduler.ErrCancelled)
	first.deliver(Output{Token: 6})
	if tokens, err := listen(first); len(tokens) != 1 || err != scheduler.ErrCancelled {
		t.Errorf("said %v, then %v", tokens, err)
	}
	l.take(command{stream: second, req: asking(1, 6, 5)})
	l.take(command{stream: first, cancel: true})
	if s := l.core.Stats(); s.Waiting != 1 || l.streams[1] != second {
		t.Errorf("a late cancel took another's request: %+v", s)
	}
}

func TestIdleLoopSleeps(t *testing.T) {
	bubble(t, loopSize, func(t *testing.T, l *Loop, e *timed) {
		wantWhole(t, submit(t, l, asking(1, 6, 3)), asking(1, 6, 3))
		synctest.Wait() // returns only when every goroutine is blocked
		steps := e.steps
		time.Sleep(time.Hour)
		if e.steps != steps {
			t.Errorf("%d steps in an idle hour", e.steps-steps)
		}
	})
}

func TestSlowReaderBlocksNobody(t *testing.T) {
	bubble(t, loopSize, func(t *testing.T, l *Loop, e *timed) {
		silent := asking(1, 6, 60)
		s := submit(t, l, silent)
		wantWhole(t, submit(t, l, asking(2, 6, 60)), asking(2, 6, 60))
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(s.pending); n != len(alone(silent)) {
			t.Errorf("%d tokens are in the mailbox", n)
		}
		wantWhole(t, s, silent)
	})
}

func TestNextGivesUpWithItsContextAndTheStreamGoesOn(t *testing.T) {
	bubble(t, loopSize, func(t *testing.T, l *Loop, e *timed) {
		s := submit(t, l, asking(1, 6, 5))
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("gave up with %v", err)
		}
		wantWhole(t, s, asking(1, 6, 5))
	})
}

func TestRefusalsReachWhoSubmits(t *testing.T) {
	size := loopSize
	size.MaxRunning, size.MaxWaiting = 1, 1
	bubble(t, size, func(t *testing.T, l *Loop, e *timed) {
		submit(t, l, asking(1, 6, 50))
		time.Sleep(15 * time.Millisecond)
		submit(t, l, asking(2, 6, 5))
		for _, c := range []struct {
			r     Request
			grain error
		}{{asking(3, 6, 5), scheduler.ErrQueueFull}, {asking(4, 300, 5), scheduler.ErrExceedsPool},
			{asking(5, 0, 5), scheduler.ErrInvalid},
			{asking(2, 6, 5), scheduler.ErrInvalid}} {
			if _, err := l.Submit(t.Context(), c.r); !errors.Is(err, c.grain) ||
				errors.Is(err, scheduler.ErrRefused) == (c.grain == scheduler.ErrInvalid) {
				t.Errorf("%d: %v, want %v", c.r.ID, err, c.grain)
			}
		}
	})
}

func TestRunEndsEveryStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &timed{paged: newPaged(64, 4), step: time.Hour}
		l, err := NewLoop(LoopConfig{Core: loopSize, Now: func() scheduler.Time { return 1 }}, e)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.Run(ctx) }()
		s := submit(t, l, asking(1, 6, 5))
		go func() {
			_, err := s.Next(context.Background())
			done <- err
		}()
		synctest.Wait()
		cancel()
		ends := []error{<-done, <-done}
		if !slices.Contains(ends, scheduler.ErrClosed) || !slices.Contains(ends, context.Canceled) {
			t.Errorf("ended with %v", ends)
		}
		if _, err := l.Submit(t.Context(), asking(2, 6, 5)); err != scheduler.ErrClosed {
			t.Errorf("submitting to a closed loop: %v", err)
		}
		s.Cancel() // must not hang
	})
}

func TestSubmitGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := NewLoop(LoopConfig{Core: loopSize, Now: func() scheduler.Time { return 1 }},
			&timed{paged: newPaged(64, 4)})
		if err != nil {
			t.Fatal(err)
		}
		submitting, giveUp := context.WithTimeout(t.Context(), time.Second)
		defer giveUp()
		if _, err := l.Submit(submitting, asking(1, 6, 5)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("gave up with %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.Run(ctx) }()
		synctest.Wait()
		if s := l.Stats(); s.Running+s.Waiting != 0 {
			t.Errorf("what was given up on is live: %+v", s)
		}
		cancel()
		<-done
	})
}

func TestLoopPublishesWhatTheCacheHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := map[kvpool.BlockHash]bool{}
		size := loopSize
		size.Blocks = 8
		l, err := NewLoop(LoopConfig{Core: size, Now: func() scheduler.Time { return 1 },
			Publish: func(events []BlockEvent) {
				for _, e := range events {
					if held[e.Hash] == e.Stored {
						t.Errorf("%+v comes twice", e)
					}
					held[e.Hash] = e.Stored
					if !e.Stored {
						delete(held, e.Hash)
					}
				}
			}}, &timed{paged: newPaged(8, 4)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.Run(ctx) }()
		for id := range uint64(6) {
			wantWhole(t, submit(t, l, asking(id, 9, 12)), asking(id, 9, 12))
		}
		synctest.Wait()
		if n := l.Stats().Cached; n == 0 || n != len(held) {
			t.Errorf("%d blocks are cached, %d were published", n, len(held))
		}
		cancel()
		<-done
	})
}

// MEGA-27, MEGA-36: an engine that hangs under a full queue does not delay its neighbour's, and takes no block from it.
func TestOverloadOfOneEngineDoesNotTouchAnother(t *testing.T) {
	bubble(t, loopSize, func(t *testing.T, hung *Loop, e *timed) {
		e.step = time.Hour
		for id := range uint64(64) {
			submit(t, hung, asking(id, 40, 20))
		}
		other := &timed{paged: newPaged(64, 4), step: 10 * time.Millisecond}
		l, err := NewLoop(LoopConfig{Core: loopSize, Now: func() scheduler.Time { return 1 }}, other)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.Run(ctx) }()
		start, r := time.Now(), asking(1, 40, 5)
		wantWhole(t, submit(t, l, r), r)
		if took := time.Since(start); took != time.Duration(len(alone(r)))*10*time.Millisecond {
			t.Errorf("%d steps of 10ms took %v", len(alone(r)), took)
		}
		cancel()
		<-done
	})
}

func TestRunningTwiceAndImpossibleConfigs(t *testing.T) {
	if _, err := NewLoop(LoopConfig{Core: loopSize}, &timed{}); !errors.Is(err, scheduler.ErrConfig) {
		t.Errorf("no clock: %v", err)
	}
	for _, spoil := range []func(c *Config){
		func(c *Config) { c.Blocks = 0 }, func(c *Config) { c.BlockSize = 0 }, func(c *Config) {
			c.MaxRunning = 0
		},
		func(c *Config) { c.MaxWaiting = -1 }, func(c *Config) { c.TokenBudget = c.MaxRunning - 1 }, func(
			c *Config) {
			c.ChunkTokens = 65
		},
	} {
		c := loopSize
		spoil(&c)
		if _, err := New(c); !errors.Is(err, scheduler.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	bubble(t, loopSize, func(t *testing.T, l *Loop, e *timed) {
		synctest.Wait()
		defer func() {
			if recover() == nil {
				t.Error("the second Run did not panic")
			}
		}()
		_ = l.Run(t.Context())
	})
}

// Under the race detector: many goroutines submit, read, give up and cancel while the engine fails now and then.
func TestLoopIsSafeFromManyGoroutines(t *testing.T) {
	size := loopSize
	e := &timed{paged: newPaged(size.Blocks, size.BlockSize)}
	fails := 0
	e.fault = func(Batch) ([]Result, error) {
		if fails++; fails%97 == 0 {
			return nil, errors.New("hiccup")
		}
		return nil, nil
	}
	l, err := NewLoop(LoopConfig{Core: size, Now: func() scheduler.Time { return 1 }}, e)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- l.Run(ctx) }()
	var all sync.WaitGroup
	for worker := range uint64(16) {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(worker, 1))
			for i := range uint64(30) {
				r := asking(worker*1000+i, 1+dice.IntN(30), 1+dice.IntN(20))
				r.Priority, r.Draft = dice.IntN(3), dice.IntN(3)
				s, err := l.Submit(ctx, Request{ID: r.ID, Tokens: slices.Clone(r.Tokens), Root: 1, MaxNew: r.MaxNew,
					Priority: r.Priority, Draft: r.Draft})
				if err != nil {
					t.Error(err)
					return
				}
				if dice.IntN(4) == 0 {
					_, _ = s.Next(ctx)
					s.Cancel()
					continue
				}
				if tokens, err := listen(s); !errors.Is(err, scheduler.ErrEngine) &&
					(err != io.EOF || !slices.Equal(tokens, alone(r))) {
					t.Errorf("%d said %v (%v), want %v", r.ID, tokens, err, alone(r))
				}
			}
		})
	}
	all.Wait()
	for until := time.Now().Add(10 * time.Second); l.Stats().Used > 0 && time.Now().Before(until); {
		// the last Cancel may be under way
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-done
	if err := l.core.Check(); err != nil {
		t.Error(err)
	}
	if s := l.core.Stats(); s.Free != s.Total {
		t.Errorf("quiet, but %+v", s)
	}
}

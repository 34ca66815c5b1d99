package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var errGone = errors.New("client gone")

func TestTheEndOfTheContextInterruptsEveryPhase(t *testing.T) {
	for name, c := range map[string]struct {
		say  string
		body string // of the request
	}{
		"waiting for the head": {"", "{}"},
		"within the head":      {"HTTP/1.1 200", "{}"},
		"waiting for the body": {chunking, "{}"},
		"within a chunk":       {chunking + "5\r\nhel", "{}"},
		"within a count":       {counting + "12", "{}"},
		"until close":          {"HTTP/1.0 200 OK\r\n\r\nhello", "{}"},
		"writing the request":  {"", strings.Repeat("x", 32<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			over, busy := make(chan struct{}), make(chan struct{})
			cl := dialUp(t, Config{URL: listen(t, func(p *peer) {
				if len(c.body) < 10 {
					p.request()
				}
				p.say(c.say)
				close(busy)
				<-over
			})})
			defer close(over)
			ctx, cancel := context.WithCancelCause(context.Background())
			go func() { <-busy; cancel(errGone) }()
			resp, err := cl.Do(ctx, post(c.body))
			for err == nil {
				_, err = resp.next()
			}
			if !errors.Is(err, context.Canceled) || !errors.Is(err, errGone) {
				t.Errorf("got %v", err)
			}
			if resp != nil {
				if _, again := resp.next(); again != err {
					t.Errorf("then %v", again)
				}
				_ = resp.Close()
			}
			if cl.idleCount() != 0 {
				t.Error("the connection was kept")
			}
		})
	}
}

// overtaken is a connection on which the context ends, and its interrupt strikes, right before the nth arming of a
// deadline takes effect: the arming undoes the interrupt. A read or a write after that would wait for nothing.
type overtaken struct {
	script
	t      *testing.T
	armed  int
	nth    int
	cancel context.CancelFunc
	struck chan struct{}
}

func (o *overtaken) arm() error {
	if o.armed++; o.armed == o.nth {
		o.cancel()
		<-o.struck
	}
	return nil
}

func (o *overtaken) SetDeadline(time.Time) error      { close(o.struck); return nil }
func (o *overtaken) SetWriteDeadline(time.Time) error { return o.arm() }
func (o *overtaken) SetReadDeadline(time.Time) error  { return o.arm() }

func (o *overtaken) Write(b []byte) (int, error) {
	if o.armed >= o.nth {
		o.t.Errorf("deadline %d: wrote without a guard", o.nth)
	}
	return len(b), nil
}

func (o *overtaken) Read([]byte) (int, error) {
	if o.armed >= o.nth {
		o.t.Errorf("deadline %d: read without a guard", o.nth)
	}
	return 0, os.ErrDeadlineExceeded // as a lazy deadline does
}

func TestArmingADeadlineNeverUndoesAnInterrupt(t *testing.T) {
	for nth := 1; nth <= 4; nth++ { // the write, the first read, and twice after a lazy deadline struck
		ctx, cancel := context.WithCancel(context.Background())
		o := &overtaken{t: t, nth: nth, cancel: cancel, struck: make(chan struct{})}
		c := dialUp(t, Config{URL: "http://h", Dial: func(context.Context) (net.Conn, error) { return o, nil }})
		if _, err := c.Do(ctx, post("{}")); !errors.Is(err, context.Canceled) {
			t.Errorf("deadline %d: %v", nth, err)
		}
		if o.armed != nth {
			t.Errorf("deadline %d: %d armed", nth, o.armed)
		}
	}
}

func TestADeadContextSendsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := dialUp(t, Config{URL: listen(t, func(*peer) { t.Error("dialled") })})
	if _, err := c.Do(ctx, post("{}")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAContextThatEndsAfterTheAnswerSpoilsOnlyReuse(t *testing.T) {
	c := dialUp(t, Config{URL: listen(t, each(ok))})
	ctx, cancel := context.WithCancel(context.Background())
	resp, err := c.Do(ctx, post("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if body, err := drain(resp); body != "ok" || err != nil {
		t.Fatalf("got %q %v", body, err)
	}
	cancel()
	_ = resp.Close()
	if c.idleCount() != 0 {
		t.Error("a connection under interruption was kept")
	}
}

// A deadline that is armed for an earlier time must not cut a longer wait, and a shorter wait must not last as long as
// a deadline that is armed for later. In virtual time, so to the nanosecond.
func TestIdleTimeoutsAreExactThoughDeadlinesAreLazy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, _, wait := memory(chunking)
		c, _ := New(Config{URL: "http://h", Dial: dial, HeaderTimeout: 2 * time.Second})
		r := post("{}")
		r.HeaderTimeout, r.IdleTimeout = 0, 10*time.Second
		for _, idle := range []time.Duration{0, 3 * time.Second, time.Second, time.Hour} {
			resp, err := c.Do(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			want := 10 * time.Second
			if idle > 0 {
				resp.SetIdle(idle)
				want = idle
			}
			start := time.Now()
			if _, err := resp.next(); !errors.Is(err, ErrTimeout) || time.Since(start) != want {
				t.Errorf("%v after %v, want %v", err, time.Since(start), want)
			}
			_ = resp.Close()
		}
		wait()
	})
}

func TestAReusedConnectionDoesNotInheritADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, dialled, wait := memory(ok)
		c, _ := New(Config{URL: "http://h", Dial: dial, MaxIdleTime: time.Hour})
		r := post("{}")
		r.HeaderTimeout = time.Second
		for range 5 {
			if _, _, err := exchange(c, r); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute) // any deadline of the exchange before has struck
		}
		if dialled.Load() != 1 {
			t.Errorf("%d connections", dialled.Load())
		}
		_ = c.Close()
		wait()
	})
}

func TestOpenStreamsHoldNoGoroutine(t *testing.T) {
	const streams = 100
	over := make(chan struct{})
	c := dialUp(t, Config{URL: listen(t, func(p *peer) {
		p.request()
		p.say(chunking + "5\r\nhello\r\n")
		<-over
	})})
	defer close(over)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	before := runtime.NumGoroutine()
	for range streams {
		resp, err := c.Do(ctx, post("{}"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Close()
		if _, err := resp.next(); err != nil {
			t.Fatal(err)
		}
	}
	if held := runtime.NumGoroutine() - before - streams; held > 1 {
		// the engine's side has one each; all are watched by one
		t.Errorf("%d goroutines for %d streams", held, streams)
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	stop, event := make(chan struct{}), []byte("d\r\ndata: token\n\n\r\n")
	c := dialUp(t, Config{URL: listen(t, func(p *peer) {
		p.request()
		p.say(chunking)
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := p.Write(event); err != nil {
					return
				}
			}
		}
	})})
	defer close(stop)
	resp, err := c.Do(context.Background(), post("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := resp.next(); err != nil {
			t.Fatal(err)
		}
		_ = resp.buffered()
	}); n != 0 {
		t.Errorf("%v allocations a piece", n)
	}
}

func TestErrorsSayWhatHappenedInWords(t *testing.T) {
	err := fmt.Errorf("replica a: %w", &lostError{cause: io.EOF, sent: true})
	if want := "replica a: connection lost before any answer: EOF"; err.Error() != want {
		t.Errorf("got %q", err)
	}
	if errors.Is(err, ErrConnect) || !errors.Is(err, ErrReset) {
		t.Errorf("%v is the wrong kind", err)
	}
}

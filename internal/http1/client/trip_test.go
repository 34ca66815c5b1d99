package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// keptConn returns a Client that keeps one connection, whose engine goes on by script.
func keptConn(t *testing.T, cfg Config, script func(*peer)) *Client {
	t.Helper()
	cfg.URL = listen(t, func(p *peer) {
		p.request()
		p.say(ok)
		script(p)
	})
	c := dialUp(t, cfg)
	if _, body, err := exchange(c, post("{}")); body != "ok" || err != nil {
		t.Fatal(body, err)
	}
	if c.idleCount() != 1 {
		t.Fatal("the connection was not kept")
	}
	return c
}

func TestTheEndOfTheContextInterruptsAKeptConnection(t *testing.T) {
	for name, c := range map[string]struct{ say, body string }{
		"waiting for the head": {"", "{}"},
		"within the head":      {"HTTP/1.1 200", "{}"},
		"within a count":       {counting + "12", "{}"},
		"writing the request":  {"", strings.Repeat("x", 32<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			over, busy := make(chan struct{}), make(chan struct{})
			cl := keptConn(t, Config{}, func(p *peer) {
				if len(c.body) < 10 {
					p.request()
				} else {
					_, _ = p.r.Peek(1)
				}
				p.say(c.say)
				close(busy)
				<-over
			})
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
				_ = resp.Close()
			}
			if cl.idleCount() != 0 {
				t.Error("the connection was kept")
			}
		})
	}
}

// A context that ends at any moment ends the exchange: an interrupt is never undone for good.
func TestAContextThatEndsAtAnyMomentEndsTheExchange(t *testing.T) {
	over := make(chan struct{})
	defer close(over)
	for after := range 40 {
		c := keptConn(t, Config{}, func(*peer) { <-over })
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Duration(after)*5*time.Microsecond, cancel)
		if _, err := c.Do(ctx, post("{}")); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

func TestAKeptEngineThatDoesNotReadIsErrTimeout(t *testing.T) {
	over := make(chan struct{})
	c := keptConn(t, Config{WriteTimeout: 100 * time.Millisecond}, func(*peer) { <-over })
	defer close(over)
	if _, _, err := exchange(c, post(strings.Repeat("x", 32<<20))); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v", err)
	}
}

func TestAKeptEngineThatIsSilentIsErrTimeout(t *testing.T) {
	over := make(chan struct{})
	c := keptConn(t, Config{}, func(*peer) { <-over })
	defer close(over)
	r := post("{}")
	r.HeaderTimeout = 50 * time.Millisecond
	began := time.Now()
	if _, _, err := exchange(c, r); !errors.Is(err, ErrTimeout) || time.Since(began) < r.HeaderTimeout {
		t.Errorf("got %v", err)
	}
}

func TestAKeptEnginesEarlyAnswerIsRead(t *testing.T) {
	c := keptConn(t, Config{}, func(p *peer) {
		_, _ = p.r.Peek(1)
		p.say("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
	})
	status, body, err := exchange(c, post(strings.Repeat("x", 32<<20)))
	if status != 413 || body != "big" || err != nil {
		t.Errorf("got %d %q %v", status, body, err)
	}
	if c.idleCount() != 0 {
		t.Error("the connection was kept")
	}
}

// Of several kept connections that the engine has ended, none costs the request more than a look.
func TestEveryDeadConnectionIsPassedOver(t *testing.T) {
	const kept = 5
	var conns atomic.Int32
	end := make(chan struct{})
	c := dialUp(t, Config{URL: listen(t, func(p *peer) {
		if conns.Add(1) > kept {
			each(ok)(p)
			return
		}
		p.request()
		p.say(ok)
		<-end
	})})
	var open []*Response
	for range kept {
		resp, err := c.Do(context.Background(), post("{}"))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, resp)
	}
	for _, resp := range open {
		_, _ = drain(resp)
		_ = resp.Close()
	}
	close(end)
	for cn := c.pool.top; cn != nil; cn = cn.below {
		waitDead(cn)
	}
	r := post("{}")
	r.Again = func() bool { t.Error("asked whether to send again what was not sent"); return false }
	if _, body, err := exchange(c, r); body != "ok" || err != nil || conns.Load() != kept+1 {
		t.Errorf("%q %v on connection %d", body, err, conns.Load())
	}
}

// Answers of changing form, one after another on one connection, are each read as on a connection of their own.
func TestAHabitNeverOutlivesItself(t *testing.T) {
	answers := []string{
		ok, ok, ok, "HTTP/1.1 500 NO\r\nContent-Length: 2\r\n\r\nno", ok, ok, counting + "0123456789", ok,
		chunking + "2\r\nok\r\n0\r\n\r\n", chunking + "5\r\nhello\r\n0\r\n\r\n", ok,
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes", "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbyes",
		"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 404 No\r\nContent-Length: 3\r\nA: b\r\n\r\nnoo",
		"HTTP/1.1 204 No Content\r\nA: b\r\n\r\n",
		"HTTP/1.1 204 No Content\r\nA: c\r\n\r\n", ok, "HTTP/1.1 100 Continue\r\n\r\n" + ok, ok,
		"HTTP/1.1 200 OK\r\nConnection: x\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
	}
	next := make(chan string, 1)
	c := dialUp(t, Config{URL: listen(t, func(p *peer) {
		for p.request() != nil {
			p.say(<-next)
		}
	})})
	for i, text := range answers {
		next <- text
		status, body, err := exchange(c, post("{}"))
		want := ours([]byte(text), len(text))
		if status != want.status || body != string(want.body) || err != nil {
			t.Errorf("answer %d, %q: %d %q %v", i, text, status, body, err)
		}
	}
	if c.idleCount() != 0 {
		t.Error("a connection that was said to close was kept")
	}
}

// A habit does not make what no head may be into one.
func TestAKeptEnginesBadHeadIsRefused(t *testing.T) {
	for _, bad := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: \x012\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\n\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		c := keptConn(t, Config{}, func(p *peer) {
			p.request()
			p.say(ok)
			p.request()
			p.say(bad)
		})
		if _, body, err := exchange(c, post("{}")); body != "ok" || err != nil {
			t.Fatal(body, err)
		}
		if _, _, err := exchange(c, post("{}")); !errors.Is(err, ErrProtocol) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// An engine that writes its answer in pieces, down to single bytes, on a kept connection is understood.
func TestAHeadThatComesInPiecesIsReadOnAKeptConnection(t *testing.T) {
	c := dialUp(t, Config{URL: listen(t, func(p *peer) {
		_ = p.Conn.(*net.TCPConn).SetNoDelay(true)
		for n := 1; p.request() != nil; n++ {
			for i := 0; i < len(ok); i += n {
				_, _ = io.WriteString(p, ok[i:min(i+n, len(ok))])
				time.Sleep(100 * time.Microsecond) // real time: the answer comes in several reads
			}
		}
	})})
	for range 12 {
		if _, body, err := exchange(c, post("{}")); body != "ok" || err != nil {
			t.Fatal(body, err)
		}
	}
	if c.idleCount() != 1 {
		t.Error("not one connection")
	}
}

// Answers that come at once, after a moment, in two pieces, with the connection's end or in its stead: none is waited
// for in vain, and none is another's.
func TestNoAnswerIsMissedOnKeptConnections(t *testing.T) {
	c := dialUp(t, Config{URL: listen(t, func(p *peer) {
		for n := 0; ; n++ {
			r := p.request()
			if r == nil {
				return
			}
			id := r.Header.Get("X-Request-Id")
			text := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(id), id)
			switch id[len(id)-1] % 8 {
			case 0:
				time.Sleep(100 * time.Microsecond) // real time: the answer comes late
			case 1:
				p.say(text[:20])
				runtime.Gosched()
				text = text[20:]
			case 2:
				p.say(text)
				return
			case 3:
				if n > 0 {
					return
				}
			}
			p.say(text)
		}
	})})
	var working sync.WaitGroup
	for worker := range 8 {
		working.Go(func() {
			for i := range 400 {
				r := post(strings.Repeat("x", i%3*4000))
				r.RequestID = fmt.Sprintf("%d-%d", worker, i)
				if _, body, err := exchange(c, r); body != r.RequestID || err != nil {
					t.Errorf("%s: %q %v", r.RequestID, body, err)
					return
				}
			}
		})
	}
	working.Wait()
}

func TestATimeoutMayBeLongerThanTimeItself(t *testing.T) {
	c := keptConn(t, Config{}, each(ok))
	r := post("{}")
	r.HeaderTimeout, r.IdleTimeout = math.MaxInt64, math.MaxInt64
	for range 2 {
		if _, body, err := exchange(c, r); body != "ok" || err != nil {
			t.Errorf("%q %v", body, err)
		}
	}
	if c.idleCount() != 1 {
		t.Error("the connection was not kept")
	}
}

// The time for the head is counted from when the request was asked for, where that is said.
func TestTheHeadsTimeBeginsWhenTheCallerSays(t *testing.T) {
	over := make(chan struct{})
	c := keptConn(t, Config{}, func(*peer) { <-over })
	defer close(over)
	r := post("{}")
	r.At, r.HeaderTimeout = time.Now().Add(-time.Hour), time.Hour+50*time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := c.Do(ctx, r); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v", err)
	}
}

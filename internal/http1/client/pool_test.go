package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

// countedEngine counts its connections and tells each its number, from 1.
func countedEngine(t *testing.T, script func(*peer, int)) (url string, conns *atomic.Int32) {
	conns = new(atomic.Int32)
	return listen(t, func(p *peer) { script(p, int(conns.Add(1))) }), conns
}

func TestConnectionsAreReusedOnlyAfterAWholeAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		say    string
		reused bool
	}{
		"counted":                   {ok, true},
		"empty":                     {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true},
		"chunked":                   {chunking + "2\r\nok\r\n0\r\n\r\n", true},
		"chunked with a trailer":    {chunking + "2\r\nok\r\n0\r\nA: b\r\nC: d\r\n\r\n", true},
		"no content":                {"HTTP/1.1 204 No Content\r\n\r\n", true},
		"not modified":              {"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", true},
		"said to close":             {"HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nok", false},
		"HTTP/1.0":                  {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false},
		"HTTP/1.0 kept alive":       {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok", true},
		"more than was promised":    {ok + "!", false},
		"an answer nobody asked":    {ok + ok, false},
		"a body where none may be":  {"HTTP/1.1 204 No Content\r\n\r\nok", false},
		"an error is as good":       {"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", true},
		"bytes after the last CRLF": {chunking + "0\r\n\r\n\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			url, conns := countedEngine(t, func(p *peer, _ int) { each(c.say)(p) })
			cl := dialUp(t, Config{URL: url})
			for range 2 {
				if _, _, err := exchange(cl, post("{}")); err != nil {
					t.Fatal(err)
				}
			}
			if got := conns.Load() == 1; got != c.reused {
				t.Errorf("%d connections", conns.Load())
			}
		})
	}
}

func TestUntilCloseBodiesEndWithTheConnection(t *testing.T) {
	url, conns := countedEngine(t, func(p *peer, _ int) {
		p.request()
		p.say("HTTP/1.1 200 OK\r\n\r\nall of it")
	})
	c := dialUp(t, Config{URL: url})
	for range 2 {
		if _, body, err := exchange(c, post("{}")); body != "all of it" || err != nil {
			t.Fatalf("got %q %v", body, err)
		}
	}
	if conns.Load() != 2 {
		t.Errorf("%d connections", conns.Load())
	}
}

func TestCloseKeepsAConnectionWhoseBodyIsAtHandAndNoOther(t *testing.T) {
	url, conns := countedEngine(t, func(p *peer, _ int) { each(chunking + "2\r\nok\r\n0\r\n\r\n")(p) })
	c := dialUp(t, Config{URL: url})
	for step, pieces := range []int{1, 0, 1} { // Next is never called up to io.EOF
		resp, err := c.Do(context.Background(), post("{}"))
		if err != nil {
			t.Fatal(err)
		}
		for range pieces {
			if _, err := resp.next(); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = resp.Close(), resp.Close()
		if _, err := resp.next(); err == nil {
			t.Error("Next after Close")
		}
		if want := []int{1, 0, 1}[step]; c.idleCount() != want {
			t.Errorf("step %d: %d idle", step, c.idleCount())
		}
	}
	if conns.Load() != 2 {
		t.Errorf("%d connections", conns.Load())
	}
}

func TestAConnectionThatTheEngineClosedIsNotUsed(t *testing.T) {
	closed := make(chan struct{}, 1)
	url, conns := countedEngine(t, func(p *peer, n int) {
		p.request()
		p.say(ok)
		if n == 1 {
			_ = p.Close()
			closed <- struct{}{}
			return
		}
		each(ok)(p)
	})
	c := dialUp(t, Config{URL: url})
	if _, _, err := exchange(c, post("{}")); err != nil {
		t.Fatal(err)
	}
	<-closed
	waitDead(c.bottom())
	if status, _, err := exchange(c, post("{}")); status != 200 || err != nil {
		t.Fatalf("got %d %v", status, err)
	}
	if conns.Load() != 2 {
		t.Errorf("%d connections", conns.Load())
	}
}

// An answer without a request must never become the answer to another client's next request.
func TestAConnectionOnWhichTheEngineSpokeUnaskedIsNotUsed(t *testing.T) {
	spoken, asked := make(chan struct{}), make(chan struct{})
	url, conns := countedEngine(t, func(p *peer, n int) {
		if n == 1 {
			p.request()
			p.say(ok)
			<-asked
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
			close(spoken)
		}
		each(ok)(p)
	})
	c := dialUp(t, Config{URL: url})
	if _, _, err := exchange(c, post("{}")); err != nil {
		t.Fatal(err)
	}
	close(asked)
	<-spoken
	waitDead(c.bottom())
	if _, body, err := exchange(c, post("{}")); body != "ok" || err != nil || conns.Load() != 2 {
		t.Errorf("got %q %v on %d connections", body, err, conns.Load())
	}
}

// waitDead waits for what the engine did to an idle connection to arrive, without taking any of it.
func waitDead(idle *conn) {
	for quiet := true; quiet; time.Sleep(time.Millisecond) {
		_ = idle.raw.Control(func(fd uintptr) {
			_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
			quiet = err == syscall.EAGAIN
		})
	}
}

// A deadline of the exchange before that struck meanwhile must not make a good connection look dead.
func TestAnExpiredDeadlineDoesNotSpoilAnIdleConnection(t *testing.T) {
	url, conns := countedEngine(t, func(p *peer, _ int) { each(ok)(p) })
	c := dialUp(t, Config{URL: url})
	for range 3 {
		if _, _, err := exchange(c, post("{}")); err != nil {
			t.Fatal(err)
		}
		idle := c.bottom()
		idle.readBy, idle.writeBy = now().after(-time.Millisecond), now().after(-time.Millisecond)
		_ = idle.nc.SetDeadline(idle.readBy.time())
	}
	if conns.Load() != 1 {
		t.Errorf("%d connections", conns.Load())
	}
}

func TestAReusedConnectionThatDiesBeforeAnyByteIsReplacedOnce(t *testing.T) {
	for name, die := range map[string]func(*peer){"FIN": func(p *peer) { _ = p.Close() }, "RST": (*peer).reset} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			url, conns := countedEngine(t, func(p *peer, n int) {
				for p.request() != nil {
					if asked.Add(1) == 2 {
						die(p)
						return
					}
					p.say(ok)
				}
			})
			c := dialUp(t, Config{URL: url})
			for range 2 {
				if status, _, err := exchange(c, post("{}")); status != 200 || err != nil {
					t.Fatalf("got %d %v", status, err)
				}
			}
			if conns.Load() != 2 || asked.Load() != 3 {
				t.Errorf("%d connections, %d requests", conns.Load(), asked.Load())
			}
		})
	}
}

func TestTheReplacementIsNotReplaced(t *testing.T) {
	var asked atomic.Int32
	url, conns := countedEngine(t, func(p *peer, _ int) {
		for p.request() != nil && asked.Add(1) == 1 {
			p.say(ok)
		}
	})
	c := dialUp(t, Config{URL: url})
	if _, _, err := exchange(c, post("{}")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := exchange(c, post("{}")); !errors.Is(err, ErrReset) {
		t.Errorf("got %v", err)
	}
	if conns.Load() != 2 || asked.Load() != 3 {
		t.Errorf("%d connections, %d requests", conns.Load(), asked.Load())
	}
}

// What an engine may have worked on is sent again only where the caller allows it.
func TestARequestThatMayHaveArrivedIsSentAgainByLeaveOnly(t *testing.T) {
	for _, leave := range []bool{true, false} {
		var asked atomic.Int32
		url, _ := countedEngine(t, func(p *peer, _ int) {
			for p.request() != nil && asked.Add(1) != 2 {
				p.say(ok)
			}
		})
		c := dialUp(t, Config{URL: url})
		if _, _, err := exchange(c, post("{}")); err != nil {
			t.Fatal(err)
		}
		r, questions := post("{}"), 0
		r.Again = func() bool { questions++; return leave }
		_, _, err := exchange(c, r)
		if errors.Is(err, ErrReset) == leave || questions != 1 || (asked.Load() == 3) != leave {
			t.Errorf("leave %t: %v, asked for it %d times, the engine got %d requests", leave, err, questions,
				asked.Load())
		}
	}
}

// The request may have been worked on, so this must not look as if nothing had reached the engine.
func TestAnEngineThatDiesWithAReusedConnectionIsErrResetAndNotErrConnect(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		nc, err := l.Accept()
		if err != nil {
			return
		}
		p := &peer{Conn: nc, t: t, r: bufio.NewReader(nc)}
		p.request()
		p.say(ok)
		p.request()
		_ = l.Close()
		_ = nc.Close()
	}()
	c := dialUp(t, Config{URL: "http://" + l.Addr().String()})
	if _, _, err := exchange(c, post("{}")); err != nil {
		t.Fatal(err)
	}
	_, _, err = exchange(c, post("{}"))
	if !errors.Is(err, ErrReset) || errors.Is(err, ErrConnect) {
		t.Errorf("got %v", err)
	}
	<-done
}

func TestAPartialAnswerOnAReusedConnectionIsNotRetried(t *testing.T) {
	var asked atomic.Int32
	url, _ := countedEngine(t, func(p *peer, _ int) {
		for p.request() != nil {
			if asked.Add(1) == 2 {
				p.say("HTTP/1.1 200")
				return
			}
			p.say(ok)
		}
	})
	c := dialUp(t, Config{URL: url})
	if _, _, err := exchange(c, post("{}")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := exchange(c, post("{}")); !errors.Is(err, ErrReset) || asked.Load() != 2 {
		t.Errorf("got %v after %d requests", err, asked.Load())
	}
}

// memory is an engine in memory, for a synctest bubble: every connection answers every request with text.
func memory(text string) (dial func(context.Context) (net.Conn, error), dialled *atomic.Int32, wait func()) {
	dialled = new(atomic.Int32)
	var wg sync.WaitGroup
	return func(context.Context) (net.Conn, error) {
		dialled.Add(1)
		ours, theirs := net.Pipe()
		wg.Go(func() {
			p := &peer{Conn: theirs, r: bufio.NewReader(theirs)}
			for p.request() != nil {
				p.say(text)
			}
			_ = theirs.Close()
		})
		return ours, nil
	}, dialled, wg.Wait
}

func TestThePoolIsAStackWithALimitAndAnAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, dialled, wait := memory(ok)
		c, _ := New(Config{URL: "http://h", Dial: dial, MaxIdle: 2, MaxIdleTime: time.Minute})
		var open []*Response
		for range 3 {
			resp, err := c.Do(context.Background(), post("{}"))
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, resp)
		}
		for _, resp := range open {
			if _, err := drain(resp); err != nil {
				t.Fatal(err)
			}
			_ = resp.Close()
			time.Sleep(time.Second)
		}
		if c.idleCount() != 2 || dialled.Load() != 3 {
			t.Fatalf("%d idle of %d", c.idleCount(), dialled.Load())
		}
		bottom := c.bottom()
		for range 5 { // the top is used again and again, the bottom grows old
			time.Sleep(10 * time.Second)
			if _, _, err := exchange(c, post("{}")); err != nil {
				t.Fatal(err)
			}
		}
		if dialled.Load() != 3 || c.bottom() != bottom {
			t.Errorf("not a stack: %d dialled", dialled.Load())
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if c.idleCount() != 1 || c.bottom() == bottom {
			t.Errorf("%d idle after the bottom's minute", c.idleCount())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if c.idleCount() != 0 {
			t.Errorf("%d idle after everyone's minute", c.idleCount())
		}
		wait()
	})
}

// Whenever the timer began to count, a connection is there for seven eighths of its age and closed at its whole age.
func TestTakeNeverHandsOutAConnectionPastItsAge(t *testing.T) {
	for phase := range 2 * ageTicks {
		for _, check := range []struct {
			after time.Duration
			kept  bool
		}{{time.Minute * (ageTicks - 1) / ageTicks, true}, {time.Minute, false}} {
			synctest.Test(t, func(t *testing.T) {
				p := &pool{limit: 2, maxAge: time.Minute}
				first, far := net.Pipe()
				p.put(newConn(first))
				time.Sleep(time.Duration(phase)*time.Minute/ageTicks/2 + time.Nanosecond)
				ours, theirs := net.Pipe()
				p.put(newConn(ours))
				time.Sleep(check.after)
				synctest.Wait()
				c := p.take()
				if (c != nil) != check.kept || c != nil && c.nc != ours {
					t.Errorf("phase %d: after %v handed out: %v", phase, check.after, c != nil)
				}
				if c != nil {
					p.put(c)
				}
				p.close()
				if _, err := ours.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) || p.count != 0 ||
					p.take() != nil {
					t.Errorf("not closed: %v", err)
				}
				_, _ = far.Close(), theirs.Close()
			})
		}
	}
}

func TestAClosedClientKeepsNothing(t *testing.T) {
	url, conns := countedEngine(t, func(p *peer, _ int) { each(ok)(p) })
	c := dialUp(t, Config{URL: url})
	held, err := c.Do(context.Background(), post("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := exchange(c, post("{}")); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if _, err := drain(held); err != nil {
		t.Errorf("an answer in use was cut: %v", err)
	}
	_ = held.Close()
	if _, _, err := exchange(c, post("{}")); err != nil {
		t.Errorf("Do after Close: %v", err)
	}
	if c.idleCount() != 0 || conns.Load() != 3 {
		t.Errorf("%d idle of %d", c.idleCount(), conns.Load())
	}
}

// Connections that lie on whole cache lines share none with each other.
func TestAConnectionFillsItsCacheLines(t *testing.T) {
	if size := unsafe.Sizeof(conn{}); strconv.IntSize == 64 && size%64 != 0 {
		t.Errorf("%d bytes", size)
	}
}

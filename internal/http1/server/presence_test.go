//go:build linux

package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long what must happen may take on a machine that is busy.
const patience = 10 * time.Second

func dial(t testing.TB, address string) *net.TCPConn {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(patience))
	return nc.(*net.TCPConn)
}

// within waits for what a channel brings.
func within[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatal("not within", patience, "-", what)
	}
	return v
}

func TestAHandlerHearsThatItsClientHasLeft(t *testing.T) {
	began, heard := make(chan bool, 1), make(chan error, 1)
	address := serve(t, &Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		began <- true
		<-r.Context().Done()
		heard <- context.Cause(r.Context())
	})})
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 40000\r\n\r\n" + strings.Repeat("x", 40000),
		"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /pipelined HTTP/1.1\r\nHost: x\r\n",
	} {
		for name, leave := range map[string]func(*net.TCPConn){
			"closes":         func(c *net.TCPConn) { c.Close() },
			"resets":         func(c *net.TCPConn) { _ = c.SetLinger(0); c.Close() },
			"closes by half": func(c *net.TCPConn) { _ = c.CloseWrite() },
		} {
			nc := dial(t, address)
			fmt.Fprint(nc, request)
			within(t, "the handler", began)
			leave(nc)
			if err := within(t, name+" after "+request[:20], heard); !errors.Is(err, context.Canceled) {
				t.Errorf("the cause is %v", err)
			}
			nc.Close()
		}
	}
}

func TestWhoReadsABodyHearsThatItsClientHasLeftByTheError(t *testing.T) {
	type end struct {
		read    error
		context error
	}
	began, ended := make(chan bool, 1), make(chan end, 1)
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began <- true
		_, err := io.Copy(io.Discard, r.Body)
		ended <- end{err, r.Context().Err()}
		http.Error(w, "half a body", 400)
	})})
	for _, head := range []string{"Content-Length: 10\r\n\r\n12345", "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
		"Transfer-Encoding: chunked\r\n\r\na\r\n12345"} {
		nc := dial(t, address)
		fmt.Fprint(nc, "POST / HTTP/1.1\r\nHost: x\r\n"+head)
		within(t, "the handler", began)
		_ = nc.CloseWrite()
		got := within(t, "the end of the body", ended)
		if !errors.Is(got.read, io.ErrUnexpectedEOF) || got.context != nil {
			t.Errorf("%q: read %v, context %v", head, got.read, got.context)
		}
		if resp, err := http.ReadResponse(bufio.NewReader(nc), nil); err != nil || resp.StatusCode != 400 ||
			!resp.Close {
			t.Errorf("%q: %v %v", head, resp, err)
		}
	}
}

// An end that arrives with the bytes before it wakes the poller once: without the watch it would be overlooked.
func TestAnEndRightBehindARequestIsNotOverlooked(t *testing.T) {
	s := &Server{Handler: http.HandlerFunc(echo), IdleTimeout: time.Hour}
	address := serve(t, s)
	for i := range 300 {
		nc := dial(t, address)
		fmt.Fprint(nc, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
		_ = nc.CloseWrite()
		answer, err := io.ReadAll(nc)
		if err != nil || !strings.HasSuffix(string(answer), "\r\n\r\nhello") {
			t.Fatalf("connection %d: %q, %v", i, answer, err)
		}
		nc.Close()
	}
	left(t, s, 0)
}

// left waits until no more than n connections are open.
func left(t testing.TB, s *Server, n int) {
	t.Helper()
	// real time: the server hears of hang-ups by itself
	for end := time.Now().Add(patience); s.Connections() > n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections are left, want %d", s.Connections(), n)
		}
	}
}

func TestAClientThatDoesNotReadFailsTheWriteNotTheContext(t *testing.T) {
	type end struct{ write, context error }
	ended := make(chan end, 1)
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctl := http.NewResponseController(w)
		piece := make([]byte, 64<<10)
		for {
			_ = ctl.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			if _, err := w.Write(piece); err != nil {
				ended <- end{err, r.Context().Err()}
				return
			}
		}
	})})
	nc := dial(t, address)
	fmt.Fprint(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := within(t, "a failed write", ended); !errors.Is(got.write, os.ErrDeadlineExceeded) || got.context != nil {
		t.Errorf("write %v, context %v", got.write, got.context)
	}
}

func TestAWriteToWhoHasLeftEndsTheContext(t *testing.T) {
	ended := make(chan error, 1)
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 8<<10)); err != nil {
				ended <- r.Context().Err()
				return
			}
		}
	})})
	nc := dial(t, address)
	// and never a body: nothing but the write can tell
	fmt.Fprint(nc, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
	_ = nc.SetLinger(0)
	nc.Close()
	if err := within(t, "a failed write", ended); err == nil {
		t.Error("the context goes on")
	}
}

func TestAnOpenRequestHoldsOneGoroutine(t *testing.T) {
	const n = 200
	began, release := make(chan bool, n), make(chan bool)
	address := serve(t, &Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		began <- true
		<-release
	}), ReadHeaderTimeout: time.Minute, IdleTimeout: time.Minute, WriteTimeout: time.Minute})
	defer close(release)
	before := runtime.NumGoroutine()
	for range n {
		fmt.Fprint(dial(t, address), "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
		within(t, "the handler", began)
	}
	if more := runtime.NumGoroutine() - before; more > n+2 {
		t.Errorf("%d requests hold %d goroutines", n, more)
	}
}

// Both ends are counted. Half of it is stacks. net/http holds more than twice as much.
func TestAnIdleConnectionHoldsLittle(t *testing.T) {
	const n, most = 1000, 16 << 10
	s := &Server{Handler: http.HandlerFunc(echo), IdleTimeout: time.Hour}
	address := serve(t, s)
	before := inUse()
	for range n {
		nc := dial(t, address)
		fmt.Fprint(nc, "POST / HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\nContent-Length: 5\r\n\r\nhello")
		if resp, err := http.ReadResponse(bufio.NewReader(nc), nil); err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
	}
	each := (inUse() - before) / n
	t.Logf("%d bytes an idle connection, both ends of it", each)
	if each > most {
		t.Errorf("%d bytes an idle connection, want at most %d", each, most)
	}
	if s.Connections() != n {
		t.Errorf("%d connections are open", s.Connections())
	}
}

// inUse is the heap and the stacks that are in use, once the collector has shrunk what it shrinks.
func inUse() int {
	var m runtime.MemStats
	for range 5 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}

//go:build linux

package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestShutdownClosesTheIdleAndLetsTheBusyFinish(t *testing.T) {
	began, release := make(chan bool, 2), make(chan bool)
	s := &Server{IdleTimeout: time.Hour, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			fmt.Fprint(w, "begun ")
			_ = http.NewResponseController(w).Flush()
			began <- true
			<-release
		}
		fmt.Fprint(w, "done")
	})}
	address := serve(t, s)
	resting, streaming, waiting := dial(t, address), dial(t, address), dial(t, address)
	fmt.Fprint(resting, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if resp, err := http.ReadResponse(bufio.NewReader(resting), nil); err != nil || resp.Close {
		t.Fatal(resp, err)
	}
	fmt.Fprint(streaming, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
	within(t, "the stream", began)
	fmt.Fprint(waiting, "GET /half HTTP/1.1\r\nHost: x\r\n")
	for s.Connections() < 3 { // the kernel resets connections that are not accepted as their listener closes
		time.Sleep(time.Millisecond) // real time: the server accepts by itself
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Shutdown(context.Background()) }()
	if rest, err := io.ReadAll(resting); err != nil || strings.Contains(string(rest), "HTTP") {
		t.Errorf("an idle connection ended with %q, %v", rest, err)
	}
	if rest, err := io.ReadAll(waiting); err != nil || len(rest) > 0 {
		t.Errorf("half a head ended with %q, %v", rest, err)
	}
	if nc, err := net.Dial("tcp", address); err == nil {
		t.Error("a new connection was accepted")
		nc.Close()
	}
	select {
	case err := <-ended:
		t.Fatal("Shutdown did not wait:", err)
	default:
	}
	close(release)
	if out, err := io.ReadAll(streaming); err != nil || !strings.HasSuffix(string(out), "4\r\ndone\r\n0\r\n\r\n") {
		t.Errorf("the stream ended with %q, %v", out, err)
	}
	if err := within(t, "Shutdown", ended); err != nil {
		t.Error(err)
	}
}

func TestShutdownGivesUpWithItsContextAndCloseEndsTheRest(t *testing.T) {
	began, causes := make(chan bool, 1), make(chan error, 1)
	base, cut := context.WithCancelCause(context.Background())
	defer cut(nil)
	s := &Server{BaseContext: base, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		began <- true
		<-r.Context().Done()
		causes <- context.Cause(r.Context())
	})}
	address := serve(t, s)
	nc := dial(t, address)
	fmt.Fprint(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	within(t, "the handler", began)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown: %v", err)
	}
	_ = s.Close()
	if err := within(t, "the context's end", causes); !errors.Is(err, context.Canceled) {
		t.Errorf("cause %v", err)
	}
	if _, err := io.ReadAll(nc); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection is still there: %v", err)
	}
	left(t, s, 0)
	if err := s.Serve(nil2{}); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve after Close: %v", err)
	}
}

// nil2 is a listener that is never asked.
type nil2 struct{ net.Listener }

func (nil2) Close() error { return nil }

func TestABaseContextsCauseReachesHandlers(t *testing.T) {
	why := errors.New("the grace is over")
	began, causes := make(chan bool, 1), make(chan error, 1)
	base, cut := context.WithCancelCause(context.Background())
	address := serve(t, &Server{BaseContext: base,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			began <- true
			<-ctx.Done()
			causes <- context.Cause(ctx)
		})})
	fmt.Fprint(dial(t, address), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	within(t, "the handler", began)
	cut(why)
	if err := within(t, "the context's end", causes); !errors.Is(err, why) {
		t.Errorf("cause %v", err)
	}
}

// A handler that runs on, whatever happens, holds up neither Close nor another connection.
func TestCloseWaitsForNobody(t *testing.T) {
	began, release := make(chan bool, 1), make(chan bool)
	s := &Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		began <- true
		<-release
	})}
	address := serve(t, s)
	fmt.Fprint(dial(t, address), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	within(t, "the handler", began)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	within(t, "Close", closed)
	close(release)
}

func TestAPanicEndsItsConnectionAlone(t *testing.T) {
	var said lockedBuffer
	s := &Server{ErrorLog: log.New(&said, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/abort", "/stream":
				fmt.Fprint(w, "some of it")
				if r.URL.Path == "/stream" {
					_ = http.NewResponseController(w).Flush()
				}
				panic(http.ErrAbortHandler)
			case "/panic":
				panic("out of order")
			}
			fmt.Fprint(w, "fine")
		})}
	address := serve(t, s)
	other := dial(t, address)
	for path, want := range map[string]string{"/abort": "", "/panic": "", "/stream": "a\r\nsome of it\r\n"} {
		nc := dial(t, address)
		fmt.Fprintf(nc, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
		out, err := io.ReadAll(nc)
		if _, body, _ := bytes.Cut(out, []byte("\r\n\r\n")); err != nil || string(body) != want ||
			len(out) > 0 != (want != "") {
			t.Errorf("%s: %q, %v", path, out, err)
		}
	}
	if log := said.String(); strings.Count(log, "panic serving") != 1 || !strings.Contains(log, "out of order") ||
		!strings.Contains(log, "serving_test.go") {
		t.Errorf("logged: %s", log)
	}
	fmt.Fprint(other, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if resp, err := http.ReadResponse(bufio.NewReader(other), nil); err != nil || resp.StatusCode != 200 {
		t.Error(resp, err)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Where only the close marks an answer's end, one that is given up ends in a reset: it is not to be taken for whole.
func TestAnAnswerToHTTP10ThatIsGivenUpIsReset(t *testing.T) {
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "some of it")
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/abort" {
			panic(http.ErrAbortHandler)
		}
	})})
	for path, want := range map[string]error{"/": nil, "/abort": syscall.ECONNRESET} {
		nc := dial(t, address)
		fmt.Fprintf(nc, "GET %s HTTP/1.0\r\n\r\n", path)
		out, err := io.ReadAll(nc)
		if !errors.Is(err, want) || !strings.HasSuffix(string(out), "some of it") {
			t.Errorf("%s: %q, %v", path, out, err)
		}
	}
}

func TestABodyIsAskedForWhenItIsFirstRead(t *testing.T) {
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			w.WriteHeader(413)
			return
		}
		echo(w, r)
	})})
	nc := dial(t, address)
	answers := bufio.NewReader(nc)
	fmt.Fprint(nc, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	if line, err := answers.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" || err != nil {
		t.Fatalf("%q %v", line, err)
	}
	_, _ = answers.ReadString('\n')
	fmt.Fprint(nc, "hello")
	resp, err := http.ReadResponse(answers, nil)
	if err != nil || resp.StatusCode != 200 || resp.Close {
		t.Fatal(resp, err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	fmt.Fprint(nc, "POST /no HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	if resp, err := http.ReadResponse(answers, nil); err != nil || resp.StatusCode != 413 || !resp.Close {
		t.Error(resp, err)
	}
}

// What is left of a body is read for the connection's sake, up to a bound; beyond it the connection ends, in a way that
// leaves the client time to read the answer.
func TestABodyThatNobodyReadsCostsAtMostItsConnection(t *testing.T) {
	s := &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }),
		ReadHeaderTimeout: time.Minute}
	address := serve(t, s)
	for _, size := range []int{1, 100 << 10, mostUnread - 1, mostUnread, 8 << 20} {
		for _, chunked := range []bool{false, true} {
			nc := dial(t, address)
			go func() {
				if chunked {
					fmt.Fprintf(
						nc, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
						size, make([]byte, size))
				} else {
					fmt.Fprintf(nc, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", size,
						make([]byte, size))
				}
				fmt.Fprint(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			}()
			answers := bufio.NewReader(nc)
			resp, err := http.ReadResponse(answers, nil)
			if err != nil || resp.StatusCode != 401 {
				t.Errorf("%d bytes, chunked %v: %v %v", size, chunked, resp, err)
				continue
			}
			_, again := http.ReadResponse(answers, nil)
			if stays := size < mostUnread || chunked && size == mostUnread; stays != (again == nil) {
				t.Errorf("%d bytes, chunked %v: a second answer: %v", size, chunked, again)
			}
			nc.Close()
		}
	}
}

// refusing is a listener that is out of descriptors for a while.
type refusing struct {
	net.Listener
	times int
}

func (l *refusing) Accept() (net.Conn, error) {
	if l.times--; l.times >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

func TestAcceptingGoesOnWhenDescriptorsAreFreeAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Handler: http.HandlerFunc(echo), ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(&refusing{Listener: l, times: 3}) }()
	nc := dial(t, l.Addr().String())
	fmt.Fprint(nc, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if resp, err := http.ReadResponse(bufio.NewReader(nc), nil); err != nil || resp.StatusCode != 200 {
		t.Error(resp, err)
	}
	_ = s.Close()
	if err := within(t, "Serve", ended); !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

func TestRefusalsAreTheOwnersToWord(t *testing.T) {
	address := serve(t, &Server{Handler: http.HandlerFunc(echo), MaxHeaderBytes: 100, MaxFields: 2,
		ReadHeaderTimeout: 50 * time.Millisecond,
		Refuse: func(w http.ResponseWriter, why Refused) {
			w.Header().Set("Content-Type", "text/x-refusal")
			w.WriteHeader(why.Status)
			fmt.Fprint(w, why.Text)
		}})
	for head, status := range map[string]int{
		"GET / HTTP/1.1\r\n\r\n":                                              400,
		"GET / HTTP/1.1\r\nHost: x\n\r\n":                                     400,
		"GET / HTTP/2.0\r\nHost: x\r\n\r\n":                                   505,
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n":       501,
		"POST / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n":              417,
		"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\nC: d\r\n\r\n":                   431,
		"GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 100):         431,
		"GET / HTTP/1.1\r\nHost: x\r\nX-Half: ":                               408,
		"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1": 408,
	} {
		nc := dial(t, address)
		fmt.Fprint(nc, head)
		resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
		if err != nil || resp.StatusCode != status || !resp.Close ||
			resp.Header.Get("Content-Type") != "text/x-refusal" {
			t.Errorf("%q: %v %v", head, resp, err)
		}
	}
}

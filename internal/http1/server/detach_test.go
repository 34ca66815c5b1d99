package server

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An answer that goes on after its handler is one answer, and its connection serves on.
func TestAnAnswerGoesOnAfterItsHandler(t *testing.T) {
	var handlers atomic.Int32
	address := serve(t, &Server{IdleTimeout: time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handlers.Add(1)
			_, _ = io.WriteString(w, "early ")
			_ = http.NewResponseController(w).Flush()
			later(w, func() {
				time.Sleep(time.Millisecond) // real time: the handler has returned by then
				_, _ = io.WriteString(w, "late "+r.URL.Path)
			})
		})})
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_, _ = io.WriteString(nc, strings.Repeat("GET /a HTTP/1.1\r\nHost: h\r\n\r\n", 3)) // in a pipeline
	in := bufio.NewReader(nc)
	for range 3 {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != "early late /a" || err != nil {
			t.Errorf("%q %v", body, err)
		}
	}
	_, _ = io.WriteString(nc, "GET /b HTTP/1.1\r\nHost: h\r\n\r\n")
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(resp.Body); string(body) != "early late /b" || handlers.Load() != 4 {
		t.Errorf("%q after %d handlers", body, handlers.Load())
	}
}

// Whatever gives up an answer that goes on later ends it as a handler's panic would.
func TestAPanicLaterEndsTheAnswerWithoutAProperEnd(t *testing.T) {
	address := serve(t, &Server{ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "early")
			_ = http.NewResponseController(w).Flush()
			later(w, func() { panic(http.ErrAbortHandler) })
		})})
	resp, err := http.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); string(body) != "early" || err == nil {
		t.Errorf("%q %v", body, err)
	}
}

func TestAHandlerThatPanicsHasNothingLater(t *testing.T) {
	address := serve(t, &Server{ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			later(w, func() { t.Error("called") })
			panic("no")
		})})
	if resp, err := http.Get("http://" + address); err == nil {
		_ = resp.Body.Close()
		t.Error(resp.Status)
	}
}

// The context of an answer that goes on later ends when the client leaves, as a handler's does; and there is one
// goroutine.
func TestAClientThatLeavesAnAnswerThatGoesOnLaterIsNoticed(t *testing.T) {
	before := runtime.NumGoroutine()
	noticed, open := make(chan struct{}), make(chan int, 1)
	address := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		later(w, func() {
			n := runtime.NumGoroutine() - before
			for give := time.Now().Add(5 * time.Second); n > 3 && time.Now().Before(give); {
				runtime.Gosched() // one that is ending still counts
				n = runtime.NumGoroutine() - before
			}
			open <- n
			<-r.Context().Done()
			close(noticed)
		})
	})})
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(nc, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	if n := <-open; n > 3 { // one that accepts, one that watches, and the connection's
		t.Errorf("%d goroutines", n)
	}
	_ = nc.Close()
	select {
	case <-noticed:
	case <-time.After(5 * time.Second):
		t.Error("not noticed")
	}
}

func later(w http.ResponseWriter, f func()) {
	w.(*Answer).Detach(func() bool {
		f()
		return true
	})
}

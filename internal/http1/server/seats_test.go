//go:build linux

package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// asks sends a request for a path and reads the answer.
func asks(t *testing.T, nc net.Conn, path string) *http.Response {
	t.Helper()
	fmt.Fprintf(nc, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// waiting returns how many connections there are, and how many of them could make room for another one.
func (s *Server) waiting() (all, idle int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		if c.waits.Load() != 0 && c.peer.Load()&leaving == 0 {
			idle++
		}
	}
	return len(s.conns), idle
}

// until waits until the server has so many connections, of which at least so many could make room.
func until(t *testing.T, s *Server, want, wantIdle int) {
	t.Helper()
	// real time: the server sees by itself what came and what went
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		all, idle := s.waiting()
		if all == want && idle >= wantIdle {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections, %d of them idle; never %d and %d", all, idle, want, wantIdle)
		}
	}
}

// Where all seats are taken, a connection that waits without a whole head makes room: silent, idle, or in the middle of
// a head. One that is being answered does not, and where there are such alone a new one is told.
func TestAConnectionWithoutASeatIsToldOrGetsAnIdleOnes(t *testing.T) {
	begun, release := make(chan bool, 3), make(chan bool)
	s := &Server{MaxConnections: 3, IdleTimeout: time.Hour, ReadHeaderTimeout: time.Hour,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				begun <- true
				<-release
			}
		})}
	address := serve(t, s)
	silent, half, idle := dial(t, address), dial(t, address), dial(t, address)
	fmt.Fprint(half, "GET / HTTP/1.1\r\nHo")
	asks(t, idle, "/")
	var busy []net.Conn
	for left := 3; left > 0; left-- {
		until(t, s, 3, left) // the one that made room is gone
		nc := dial(t, address)
		fmt.Fprint(nc, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
		within(t, "a request", begun)
		busy = append(busy, nc)
	}
	for _, nc := range []net.Conn{silent, half, idle} {
		if rest, err := io.ReadAll(nc); err != nil || len(rest) > 0 {
			t.Errorf("%q, %v", rest, err)
		}
	}
	if resp := asks(t, dial(t, address), "/"); resp.StatusCode != 503 || !resp.Close {
		t.Errorf("beside three that are busy: %v", resp)
	}
	close(release)
	for _, nc := range busy {
		if resp, err := http.ReadResponse(bufio.NewReader(nc), nil); err != nil || resp.StatusCode != 200 {
			t.Errorf("%v %v", resp, err)
		}
	}
	until(t, s, 3, 1) // an answer is read before its connection waits again
	if resp := asks(t, dial(t, address), "/"); resp.StatusCode != 200 {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestOneAddressHasItsShareOfSeats(t *testing.T) {
	s := &Server{MaxPerAddress: 2, IdleTimeout: time.Hour, Handler: http.HandlerFunc(echo)}
	address := serve(t, s)
	first, second := dial(t, address), dial(t, address)
	asks(t, first, "/")
	asks(t, second, "/")
	if resp := asks(t, dial(t, address), "/"); resp.StatusCode != 503 {
		t.Errorf("status %d", resp.StatusCode)
	}
	first.Close()
	left(t, s, 1)
	if resp := asks(t, dial(t, address), "/"); resp.StatusCode != 200 {
		t.Errorf("status %d", resp.StatusCode)
	}
}

// What a connection has sent in its heads is not kept while it is idle.
func TestIdleConnectionsForgetLargeHeads(t *testing.T) {
	const connections = 200
	s := &Server{IdleTimeout: time.Hour, Handler: http.HandlerFunc(echo), MaxHeaderBytes: 64 << 10}
	address := serve(t, s)
	held := func() uint64 {
		for range 3 {
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	head := "GET / HTTP/1.1\r\nHost: x\r\nX-Large: " + strings.Repeat("x", 60<<10) + "\r\n\r\n"
	before := held()
	for range connections {
		nc := dial(t, address)
		for range 2 {
			fmt.Fprint(nc, head)
			if resp, err := http.ReadResponse(bufio.NewReaderSize(nc, 512), nil); err != nil || resp.StatusCode != 200 {
				t.Fatal(resp, err)
			}
		}
	}
	each := (int64(held()) - int64(before)) / connections
	t.Logf("%d bytes for an idle connection", each)
	if each > 24<<10 {
		t.Errorf("%d bytes are held for each idle connection", each)
	}
}

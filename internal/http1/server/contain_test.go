//go:build linux

package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"octet/internal/http1/guard"
)

// A panic where no handler runs ends its connection, and no other.
func TestAPanicOutsideOfAHandlerEndsItsConnectionAlone(t *testing.T) {
	var panics atomic.Int32
	s := &Server{Handler: http.HandlerFunc(echo), Panics: func(where string, value any) {
		if where == guard.Connection && value == "oh" {
			panics.Add(1)
		}
	}, Refuse: func(http.ResponseWriter, Refused) { panic("oh") }}
	address := serve(t, s)
	calm := dial(t, address)
	answers := bufio.NewReader(calm)
	ask := func() {
		t.Helper()
		fmt.Fprint(calm, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if resp, err := http.ReadResponse(answers, nil); err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
	}
	ask()
	for range 3 {
		nc := dial(t, address)
		fmt.Fprint(nc, "no request\r\n\r\n")
		if answer, _ := io.ReadAll(nc); len(answer) > 0 {
			t.Errorf("%q", answer)
		}
	}
	ask()
	if n := panics.Load(); n != 3 {
		t.Errorf("%d panics were counted", n)
	}
	for s.Connections() > 1 {
		time.Sleep(time.Millisecond) // real time: connections end by themselves
	}
}

// departing is a connection whose peer is found to have left just before a deadline is set.
type departing struct {
	net.Conn
	before func()
}

func (l *departing) SetReadDeadline(t time.Time) error {
	if before := l.before; before != nil {
		l.before = nil
		before()
	}
	return l.Conn.SetReadDeadline(t)
}

// A client that leaves between the look at whether it has and the wait for more is let go at once: its end came with
// the last bytes, so nothing else tells of it.
func TestAClientThatLeavesAsItsConnectionIsParkedIsLetGo(t *testing.T) {
	s := &Server{Handler: http.HandlerFunc(echo), IdleTimeout: time.Hour}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client := dial(t, l.Addr().String())
	nc, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s.conns = map[uint64]*conn{}
	c := newConn(s, nc)
	c.watched = true // and the test is the watch
	c.nc = &departing{nc, c.left}
	fmt.Fprint(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	_ = client.CloseWrite()
	time.Sleep(50 * time.Millisecond) // real time: the poller hears of both
	go c.serve()
	if answer, err := io.ReadAll(client); err != nil || len(answer) == 0 {
		t.Errorf("%v after %q", err, answer)
	}
}

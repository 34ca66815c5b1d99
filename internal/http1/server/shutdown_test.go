//go:build linux

package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of connections within the process.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case nc := <-p.made:
		return nc, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.made <- theirs
	return ours
}

// What has sent no whole head is closed at once when the server shuts down: a new connection, half a head, and one that
// rests.
func TestShutdownClosesAtOnceWhatHasNoWholeHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Handler: http.HandlerFunc(echo), ReadHeaderTimeout: time.Hour, IdleTimeout: time.Hour}
		l := &pipes{made: make(chan net.Conn), closed: make(chan struct{})}
		go func() { _ = s.Serve(l) }()
		silent, half, rests := l.dial(), l.dial(), l.dial()
		answers := bufio.NewReader(rests)
		fmt.Fprint(rests, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if resp, err := http.ReadResponse(answers, nil); err != nil || resp.Close {
			t.Fatal(resp, err)
		}
		fmt.Fprint(half, "GET / HTTP/1.1\r\nHost")
		synctest.Wait()
		began, ended := time.Now(), make(chan error)
		go func() { ended <- s.Shutdown(context.Background()) }()
		for _, nc := range []io.Reader{silent, half, answers} {
			if _, err := io.ReadAll(nc); err != nil || time.Since(began) > time.Second {
				t.Error(err, time.Since(began))
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Whatever connections are doing when Shutdown begins, it is not kept waiting by one, and what was begun is answered
// whole.
func TestShutdownComesBetweenAnyTwoStepsOfAConnection(t *testing.T) {
	for round := range 40 {
		s := &Server{Handler: http.HandlerFunc(echo), IdleTimeout: time.Hour, ReadHeaderTimeout: time.Hour}
		address := serve(t, s)
		var clients sync.WaitGroup
		for i := range 8 {
			nc := dial(t, address)
			clients.Go(func() {
				answers := bufio.NewReader(nc)
				body := strings.Repeat("b", 10<<(i%4*4))
				for {
					if _, err := fmt.Fprintf(nc, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s",
						len(body), body); err != nil {
						return
					}
					resp, err := http.ReadResponse(answers, nil)
					if err != nil {
						return
					}
					if got, err := io.ReadAll(resp.Body); err != nil || string(got) != body {
						t.Errorf("%d bytes, %v", len(got), err)
					}
				}
			})
		}
		time.Sleep(time.Duration(round) * 100 * time.Microsecond)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if err := s.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		clients.Wait()
	}
}

// lateRequest is a connection whose request comes as its read is armed, which is after a read that brought nothing; the
// server begins to close in the same moment.
type lateRequest struct {
	*net.TCPConn
	s    *Server
	come func()
}

func (l *lateRequest) SetReadDeadline(at time.Time) error {
	l.s.closing.Store(true)
	l.come()
	return l.TCPConn.SetReadDeadline(at)
}

// A request that came before the server began to close is answered, though the read just before it found nothing; half
// a head is read, as the close would else be a reset.
func TestWhatComesJustBeforeShutdownIsRead(t *testing.T) {
	for sent, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n": "HTTP/1.1 200 OK",
		"GET / HTTP/1.1\r\nHost: x\r\n":     "",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		client := dial(t, l.Addr().String())
		served, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		s := &Server{Handler: http.HandlerFunc(echo), ReadHeaderTimeout: time.Hour}
		c := newConn(s, served)
		c.nc = &lateRequest{served.(*net.TCPConn), s, sync.OnceFunc(func() { fmt.Fprint(client, sent) })}
		c.serve()
		got, err := io.ReadAll(client)
		if line, _, _ := strings.Cut(string(got), "\r\n"); err != nil || line != want {
			t.Errorf("%q is answered with %q, %v", sent, got, err)
		}
		_ = l.Close()
	}
}

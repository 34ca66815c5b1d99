//go:build linux

package server

import (
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

var socketCount = flag.Int("socketcount", 2000, "scripts that TestOursHearsTheSameOverSockets runs")

// sockets serves ours over real descriptors, which the scripts of the other test do without.
type sockets struct {
	pair   *pair
	server *Server
	conns  chan net.Conn
	ended  chan error
}

func (x *sockets) Accept() (net.Conn, error) {
	c, ok := <-x.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (x *sockets) Close() error   { return nil }
func (x *sockets) Addr() net.Addr { return nowhere{} }

func openSockets(p *pair) *sockets {
	x := &sockets{pair: p, conns: make(chan net.Conn), ended: make(chan error, 1)}
	x.server = &Server{
		Handler: p, MaxHeaderBytes: headLimit, MaxFields: fieldLimit, ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: 20 * time.Second, IdleTimeout: 20 * time.Second, WriteTimeout: 20 * time.Second,
	}
	go func() { x.ended <- x.server.Serve(x) }()
	return x
}

func (x *sockets) end(t *testing.T) {
	_ = x.server.Close()
	close(x.conns)
	if err := <-x.ended; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve: %v", err)
	}
}

// connected returns the two ends of a socket.
func connected(t *testing.T) (near, far net.Conn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "socketpair")
		if ends[i], err = net.FileConn(f); err != nil {
			t.Fatal(err)
		}
		_ = f.Close() // FileConn has its own
	}
	return ends[0], ends[1]
}

// ask has ours serve s: its pieces, then the end of what the client sends.
func (x *sockets) ask(t *testing.T, s *script) *heard {
	h := &heard{asked: true}
	x.pair.hearing, x.pair.late = h, false
	near, far := connected(t)
	defer near.Close()
	_ = near.SetDeadline(time.Now().Add(10 * time.Second))
	x.conns <- far
	var writing sync.WaitGroup
	writing.Go(func() {
		for _, piece := range s.client().pieces {
			if _, err := near.Write(piece); err != nil {
				return
			}
		}
		_ = near.(*net.UnixConn).CloseWrite()
	})
	out, err := io.ReadAll(near)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection was not closed: %v", err)
	}
	writing.Wait()
	for x.server.Connections() > 0 {
		runtime.Gosched()
	}
	h.take(out)
	return h
}

// What the scripts' test says holds over descriptors, where waiting is the poller's.
func TestOursHearsTheSameOverSockets(t *testing.T) {
	p := newPair()
	defer p.end()
	x := openSockets(p)
	defer x.end(t)
	g := newGenerator(*fuzzSeed + 1<<32)
	for i := range *socketCount {
		s := g.script()
		s.ending = io.EOF
		theirs, ours := p.askTheirs(s), x.ask(t, s)
		if wrong, _ := compare(s, theirs, ours); wrong != "" {
			t.Fatalf("script %d, cuts %v:\n%q\n%s", i, s.cuts, s.input[:min(len(s.input), 3000)], wrong)
		}
	}
}

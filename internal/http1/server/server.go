package server

import (
	"context"
	"errors"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"octet/internal/http1/guard"
	"octet/internal/http1/poll"
)

// Supported says whether this system lets one goroutine learn of every client that leaves.
const Supported = poll.Supported

// Server serves HTTP/1.1. Its fields must not change once Serve is called, but by Bound; a zero timeout or limit means
// no limit.
type Server struct {
	Handler     http.Handler
	BaseContext context.Context // of all requests; nil means Background

	// for a head, from its first byte, or of a new connection from its start; and for the rest of a body that the
	// handler did not read
	ReadHeaderTimeout time.Duration
	IdleTimeout       time.Duration // for a connection without a request
	WriteTimeout      time.Duration // from a request's head on, unless the handler sets another deadline
	MaxHeaderBytes    int           // of request line and fields; 0 is 1 MiB
	MaxFields         int           // of a head
	MaxConnections    int           // open at once; 0 is no limit
	MaxPerAddress     int           // of one address, for IPv6 of one network of 64 bits; 0 is no limit

	// Refuse answers for the server itself what is no request that a handler could see; nil answers in plain text. The
	// connection ends after it.
	Refuse   func(w http.ResponseWriter, why Refused)
	Panics   guard.Report // is told of the panics that are contained
	ErrorLog *log.Logger  // of panics and failed accepts; nil means the standard logger

	closing atomic.Bool
	date    atomic.Pointer[stamp]

	mu        sync.Mutex // guards the rest
	listeners map[net.Listener]struct{}
	conns     map[uint64]*conn // by id
	last      uint64           // id
	seats     seats
	watch     *poll.Watch // nil before the first socket
	over      bool        // no connection is served any more
}

// Serve accepts connections from l until Shutdown or Close, and returns http.ErrServerClosed then. It closes l.
func (s *Server) Serve(l net.Listener) error {
	defer func() { _ = l.Close() }() // again, most often
	if err := s.open(l); err != nil {
		return err
	}
	var pause time.Duration
	for {
		nc, err := l.Accept()
		if err == nil {
			pause = 0
			s.start(nc)
			continue
		}
		if s.closing.Load() {
			return http.ErrServerClosed
		}
		var passing temporary
		if !errors.As(err, &passing) || !passing.Temporary() { // out of descriptors, for one, passes
			return err
		}
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		s.logf("front: accept: %v; again in %v", err, pause)
		time.Sleep(pause) //nolint:forbidigo // as net/http does; at most a second
	}
}

func (s *Server) open(l net.Listener) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return http.ErrServerClosed
	}
	if s.conns == nil {
		s.conns, s.listeners = map[uint64]*conn{}, map[net.Listener]struct{}{}
	}
	s.listeners[l] = struct{}{}
	return nil
}

// mostTries is how often, a millisecond apart, a connection looks for the seat of one that is making room. Others wait
// in the kernel meanwhile.
const mostTries = 100

// Telling is a connection that is no socket, and so is under no watch: it tells itself of its peer's end.
type Telling interface {
	// OnPeerClosed has f called once when the peer has closed its side; at once if it has.
	OnPeerClosed(f func())
}

// start serves nc on a goroutine of its own.
func (s *Server) start(nc net.Conn) {
	c := newConn(s, nc)
	w, no, err := s.enlist(c)
	for tries := 0; no == errParting && tries < mostTries; tries++ {
		time.Sleep(time.Millisecond) //nolint:forbidigo // the parting connection's goroutine
		w, no, err = s.enlist(c)
	}
	if no != nil {
		s.turnAway(c, no)
		return
	}
	if err != nil {
		s.logf("front: connection from %s: %v", nc.RemoteAddr(), err)
		_ = nc.Close() // never served
		return
	}
	c.watched = w != nil && w.Add(c.raw, c.id)
	if tells, is := nc.(Telling); is {
		tells.OnPeerClosed(func() { s.left(c.id) })
	}
	go c.serve()
}

// enlist counts c among the connections, and returns the watch that sockets are under; nil for other connections. no is
// why c is not counted.
func (s *Server) enlist(c *conn) (w *poll.Watch, no *refusal, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, nil, http.ErrServerClosed
	}
	if c.raw != nil {
		if s.watch == nil {
			if s.watch, err = poll.NewWatch(s.left, s.Panics); err != nil {
				return nil, nil, err
			}
		}
		w = s.watch
	}
	if no = s.seat(c); no != nil {
		return nil, no, nil
	}
	s.last++
	c.id = s.last
	s.conns[c.id] = c
	return w, nil, nil
}

// forget drops c, which is closed.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns[c.id] == c {
		delete(s.conns, c.id)
		s.unseat(c)
	}
}

// left is told by the watch that a client has closed its side.
func (s *Server) left(id uint64) {
	s.mu.Lock()
	c := s.conns[id]
	s.mu.Unlock()
	if c != nil {
		c.left()
	}
}

// Shutdown stops accepting, closes connections as they are without a request's whole head, and returns when none is
// left or ctx ends. Answers say Connection: close from now on.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopAccepting()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !s.closeIdle() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// Close ends everything at once: listeners, connections, and the contexts of their requests. It does not wait for
// handlers.
func (s *Server) Close() error {
	s.stopAccepting()
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.conns))
	s.mu.Unlock()
	for _, c := range all {
		c.cut()
	}
	s.unwatch()
	return nil
}

func (s *Server) stopAccepting() {
	s.closing.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.listeners {
		_ = l.Close() // Serve closes it too
		delete(s.listeners, l)
	}
}

// closeIdle has those end that have no request, and reports whether nothing is left.
func (s *Server) closeIdle() bool {
	for _, c := range s.unaware() {
		c.wake()
	}
	if s.Connections() > 0 {
		return false
	}
	s.unwatch()
	return true
}

// unaware returns the connections that were not told yet that the server is closing, once.
func (s *Server) unaware() (all []*conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		if !c.nudged {
			c.nudged = true
			all = append(all, c)
		}
	}
	return all
}

// unwatch ends the watch, and waits for it.
func (s *Server) unwatch() {
	s.mu.Lock()
	w := s.watch
	s.watch, s.over = nil, true
	s.mu.Unlock()
	if w != nil {
		w.Close()
	}
}

// Connections returns how many are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func (s *Server) logf(format string, args ...any) {
	if s.ErrorLog != nil {
		s.ErrorLog.Printf(format, args...)
		return
	}
	log.Printf(format, args...)
}

func (s *Server) maxHead() int {
	if s.MaxHeaderBytes > 0 {
		return s.MaxHeaderBytes
	}
	return http.DefaultMaxHeaderBytes
}

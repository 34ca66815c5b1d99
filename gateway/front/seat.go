package front

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/internal/http1/server"
)

// seat is one TCP connection of a plainServer, and its place among them.
type seat struct {
	net.Conn
	server *plainServer
	source netip.Addr
	idle   time.Time // since when it has had no request; zero while it has one; guarded by server.seatsMu, as is closed
	closed bool
}

// Close closes the connection and gives its place back.
func (s *seat) Close() error {
	s.server.leave(s)
	return s.Conn.Close()
}

// CloseWrite closes the sending side, where that can be done alone.
func (s *seat) CloseWrite() error {
	if half, ok := s.Conn.(halfCloser); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// halfCloser is what a connection over TCP has.
type halfCloser interface{ CloseWrite() error }

// plainConn is a connection of HTTP/1.1, over a seat or over TLS on one.
type plainConn struct {
	*server.Strict
	seat *seat
}

func (p *plainServer) strict(over net.Conn, s *seat) *plainConn {
	return &plainConn{server.NewStrict(over, p.maxHead, p.maxFields), s}
}

// seatOf returns the seat of a connection that net/http has; nil if it has none.
func seatOf(nc net.Conn) *seat {
	switch c := nc.(type) {
	case *plainConn:
		return c.seat
	case *tls.Conn:
		s, _ := c.NetConn().(*seat)
		return s
	}
	return nil
}

// refusal is why a connection is not let in, and how long it had better wait.
type refusal struct {
	text string
	wait time.Duration // zero if it is not known
}

func (r *refusal) typed() *apierr.Error {
	e := apierr.New(apierr.Overloaded, "", r.text)
	e.RetryAfter = r.wait
	return e
}

// enter counts nc in, or returns why not. leaves, if not nil, is to be closed for it.
func (p *plainServer) enter(nc net.Conn) (s, leaves *seat, no *refusal) {
	source := conn.AddressOf(nc.RemoteAddr().String())
	p.seatsMu.Lock()
	defer p.seatsMu.Unlock()
	if p.perAddress > 0 && p.of[source] >= p.perAddress {
		p.turned.Address++
		return nil, nil, &refusal{"too many connections of this address are open: limits.connections_per_address",
			p.pace.Wait(time.Now())}
	}
	if p.most > 0 && len(p.seats) >= p.most {
		if leaves = p.longest(); leaves == nil {
			p.turned.Full++
			return nil, nil, &refusal{"too many connections are open: limits.connections", p.pace.Wait(time.Now())}
		}
	}
	s = &seat{Conn: nc, server: p, source: source, idle: time.Now()}
	p.seats[s] = struct{}{}
	p.of[source]++
	return s, leaves, nil
}

// leave is enter's end. A second call does nothing.
func (p *plainServer) leave(s *seat) {
	p.seatsMu.Lock()
	defer p.seatsMu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	delete(p.seats, s)
	if p.of[s.source]--; p.of[s.source] <= 0 {
		delete(p.of, s.source)
	}
	p.pace.Freed(time.Now())
}

// longest returns the connection that has been without a request for longest, of up to 64; nil if all have one. Called
// under seatsMu.
func (p *plainServer) longest() (longest *seat) {
	looked := 0
	for s := range p.seats {
		if !s.idle.IsZero() && (longest == nil || s.idle.Before(longest.idle)) {
			longest = s
		}
		if looked++; looked == 64 {
			break
		}
	}
	return longest
}

// changed is net/http's ConnState.
func (p *plainServer) changed(nc net.Conn, state http.ConnState) {
	s := seatOf(nc)
	if s == nil {
		return
	}
	p.seatsMu.Lock()
	defer p.seatsMu.Unlock()
	switch state {
	case http.StateIdle:
		s.idle = time.Now()
	case http.StateActive:
		s.idle = time.Time{}
	default:
	}
}

// idle returns the connections without a request.
func (p *plainServer) idle() []*seat {
	return p.those(func(s *seat) bool { return !s.idle.IsZero() })
}

func (p *plainServer) those(are func(*seat) bool) (all []*seat) {
	p.seatsMu.Lock()
	defer p.seatsMu.Unlock()
	for s := range p.seats {
		if are(s) {
			all = append(all, s)
		}
	}
	return all
}

func closeSeats(all []*seat) {
	for _, s := range all {
		_ = s.Close() // its error changes nothing
	}
}

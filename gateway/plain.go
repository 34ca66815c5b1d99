package gateway

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/intake"
	"octet/internal/http1/server"
)

// plainServer is Go's own server with the bounds on connections that server.Server has of itself.
// Where all places are taken, one that rests, or is new and silent, makes room; else the new one is told, in as much as
// its socket takes at once, and closed.
type plainServer struct {
	*http.Server
	most, mostOfOne int
	newID           func() string // of a request
	maxHead         int           // of a head, in bytes
	maxFields       int           // of a head

	mu    sync.Mutex
	conns map[*plainConn]struct{} // guarded by mu, as all of a plainConn
	of    map[netip.Addr]int
}

// plainConn is one connection.
type plainConn struct {
	net.Conn
	server *plainServer
	source netip.Addr
	since  time.Time // it has had no request; zero while it has one
	closed bool
}

// Serve implements listening.
func (p *plainServer) Serve(l net.Listener) error {
	p.ConnState, p.ConnContext = p.changed, connected
	return p.Server.Serve(&plainListener{l, p})
}

// Shutdown implements listening. New connections that are silent are closed with those that rest: net/http waits for
// them.
func (p *plainServer) Shutdown(ctx context.Context) error {
	p.SetKeepAlivesEnabled(false) // what ends its request now is closed
	p.mu.Lock()
	var resting []*plainConn
	for c := range p.conns {
		if !c.since.IsZero() {
			resting = append(resting, c)
		}
	}
	p.mu.Unlock()
	for _, c := range resting {
		_ = c.Close() // it is given up
	}
	return p.Server.Shutdown(ctx)
}

// refusing answers for h what stands for a request that was refused.
func (s *Server) refusing(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(plainKey{}).(*plainConn); ok {
			if strict, ok := c.Conn.(*server.Strict); ok {
				if status, text, refused := strict.Refused(r.RequestURI); refused {
					s.refuseHead(w, status, text)
					return
				}
			}
		}
		h.ServeHTTP(w, r)
	})
}

// plainKey is what a request's context has its connection under.
type plainKey struct{}

// connected is told by net/http.
func connected(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, plainKey{}, nc)
}

// changed is told by net/http.
func (p *plainServer) changed(nc net.Conn, s http.ConnState) {
	c, ok := nc.(*plainConn)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch s {
	case http.StateIdle:
		c.since = time.Now()
	case http.StateActive:
		c.since = time.Time{}
	default:
	}
}

// Close closes the connection and gives its place back.
func (c *plainConn) Close() error {
	c.server.mu.Lock()
	if !c.closed {
		c.closed = true
		delete(c.server.conns, c)
		if c.server.of[c.source]--; c.server.of[c.source] <= 0 {
			delete(c.server.of, c.source)
		}
	}
	c.server.mu.Unlock()
	return c.Conn.Close()
}

// halfCloser is a connection whose sending side can be closed alone.
type halfCloser interface{ CloseWrite() error }

// CloseWrite closes the sending side: net/http looks for it.
func (c *plainConn) CloseWrite() error {
	if half, ok := c.Conn.(halfCloser); ok {
		return half.CloseWrite()
	}
	return nil
}

// enter gives nc a place, or says why not, and which connection is to make room.
func (p *plainServer) enter(nc net.Conn) (c, leaves *plainConn, no *apierr.Error) {
	source := intake.AddressOf(nc.RemoteAddr().String())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns, p.of = map[*plainConn]struct{}{}, map[netip.Addr]int{}
	}
	if p.mostOfOne > 0 && p.of[source] >= p.mostOfOne {
		return nil, nil, apierr.New(apierr.QuotaExceeded, "",
			"too many connections of this address are open: limits.connections_per_address")
	}
	if p.most > 0 && len(p.conns) >= p.most {
		if leaves = p.longest(); leaves == nil {
			return nil, nil, apierr.New(apierr.Overloaded, "", "too many connections are open: limits.connections")
		}
	}
	c = &plainConn{Conn: server.NewStrict(nc, p.maxHead, p.maxFields), server: p, source: source, since: time.Now()}
	p.conns[c] = struct{}{}
	p.of[source]++
	return c, leaves, nil
}

// longest returns the one without a request for longest, of some that are looked at; nil if there is none. Under mu.
func (p *plainServer) longest() (c *plainConn) {
	looked := 0
	for o := range p.conns {
		if !o.since.IsZero() && (c == nil || o.since.Before(c.since)) {
			c = o
		}
		if looked++; looked == 64 {
			break
		}
	}
	return c
}

// plainListener accepts what gets a place.
type plainListener struct {
	net.Listener
	server *plainServer
}

// Accept implements net.Listener.
func (l *plainListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, leaves, no := l.server.enter(nc)
		if leaves != nil {
			_ = leaves.Close() // it is given up
		}
		if no == nil {
			return c, nil
		}
		turnAway(nc, no.AppendJSON(nil, l.server.newID()), no.Status())
	}
}

// turnAway tells why a connection is not served, and closes it.
func turnAway(nc net.Conn, body []byte, status int) {
	_ = nc.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // a new socket has room for so little
	_, _ = fmt.Fprintf(
		nc, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), len(body), body)
	_ = nc.Close() // its error changes nothing
}

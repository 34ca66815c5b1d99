package front

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/internal/http1/server"
)

// plainConn is one connection.
type plainConn struct {
	*server.Strict
	server *plainServer
	source netip.Addr
	idle   time.Time // since when it has had no request; zero while it has one
	closed bool
}

// Close closes the connection and gives its place back.
func (c *plainConn) Close() error {
	c.server.connsMu.Lock()
	if !c.closed {
		c.closed = true
		delete(c.server.conns, c)
		if c.server.of[c.source]--; c.server.of[c.source] <= 0 {
			delete(c.server.of, c.source)
		}
	}
	c.server.connsMu.Unlock()
	return c.Strict.Close()
}

// enter counts nc in, or returns why not. leaves, if not nil, is to be closed for it.
func (p *plainServer) enter(nc net.Conn) (c, leaves *plainConn, no *apierr.Error) {
	source := conn.AddressOf(nc.RemoteAddr().String())
	p.connsMu.Lock()
	defer p.connsMu.Unlock()
	if p.conns == nil {
		p.conns, p.of = map[*plainConn]struct{}{}, map[netip.Addr]int{}
	}
	if p.perAddress > 0 && p.of[source] >= p.perAddress {
		return nil, nil, apierr.New(apierr.QuotaExceeded, "",
			"too many connections of this address are open: limits.connections_per_address")
	}
	if p.most > 0 && len(p.conns) >= p.most {
		if leaves = p.longest(); leaves == nil {
			return nil, nil, apierr.New(apierr.Overloaded, "", "too many connections are open: limits.connections")
		}
	}
	c = &plainConn{Strict: server.NewStrict(nc, p.maxHead, p.maxFields), server: p, source: source, idle: time.Now()}
	p.conns[c] = struct{}{}
	p.of[source]++
	return c, leaves, nil
}

// longest returns the connection that has been without a request for longest, of up to 64; nil if all have one. Called
// under connsMu.
func (p *plainServer) longest() (c *plainConn) {
	looked := 0
	for o := range p.conns {
		if !o.idle.IsZero() && (c == nil || o.idle.Before(c.idle)) {
			c = o
		}
		if looked++; looked == 64 {
			break
		}
	}
	return c
}

// plainListener accepts the connections that enter lets in, and refuses the others.
type plainListener struct {
	net.Listener
	server *plainServer
}

// Accept returns the next connection that is let in.
func (l *plainListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, leaves, no := l.server.enter(nc)
		if leaves != nil {
			_ = leaves.Close() // its error changes nothing
		}
		if no == nil {
			return c, nil
		}
		refuseConn(nc, no.AppendJSON(nil, l.server.newID()), no.Status())
	}
}

// refuseConn answers a connection that is not let in, and closes it.
func refuseConn(nc net.Conn, body []byte, status int) {
	_ = nc.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // a new socket has room for so little
	_, _ = fmt.Fprintf(
		nc, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), len(body), body)
	_ = nc.Close() // its error changes nothing
}

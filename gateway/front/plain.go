package front

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"octet/internal/http1/server"
)

// plainServer is Go's own server with the bounds on connections that server.Server has of itself, and with TLS. If all
// places are taken, a connection without a request is closed for the new one. If all have one, the new connection is
// refused: with as much of an answer as its socket takes at once, or by closing it where it would speak TLS.
type plainServer struct {
	*http.Server
	maxHead    int           // bytes of a head
	maxFields  int           // of a head
	shakeTime  time.Duration // for a TLS handshake; zero means no limit
	newID      func() string
	refuseHead func(w http.ResponseWriter, why server.Refused)
	secure     *tls.Config // nil without TLS
	shakes     shakes

	seatsMu    sync.Mutex
	most       int                // connections; zero means no limit; guarded by seatsMu, as all below
	perAddress int                // connections of one address; zero means no limit
	seats      map[*seat]struct{} // of open connections
	of         map[netip.Addr]int // connections of an address
	pace       server.Pace
	turned     server.Turned
}

// bounds are those of one listener's connections.
type bounds struct {
	most, perAddress int
	write            time.Duration
	secure           *tls.Config
}

// newPlain returns a listener's server on net/http.
func newPlain(cfg *Config, h http.Handler, b bounds) *plainServer {
	p := &plainServer{
		most: b.most, perAddress: b.perAddress, secure: b.secure,
		maxHead: Head(cfg.Limits.HeaderBytes), maxFields: cfg.Limits.HeaderFields,
		shakeTime: cfg.Limits.HeaderTimeout, newID: cfg.NewID, refuseHead: cfg.refuseHead,
		seats: map[*seat]struct{}{}, of: map[netip.Addr]int{},
	}
	p.shakes.most = cfg.Limits.Handshakes
	p.Server = netServer(cfg, p.refusing(h, b.write))
	p.WriteTimeout = b.write // from a request's head on; an answer sets its own with every write
	p.ConnState, p.ConnContext = p.changed, connected
	if p.secure != nil {
		p.TLSConfig = p.secure.Clone()
		p.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: mostOfConnection, WriteByteTimeout: b.write,
			SendPingTimeout: pingAfter, PingTimeout: pingAfter}
	}
	return p
}

const (
	mostOfConnection = 250              // streams of one connection of HTTP/2
	pingAfter        = 20 * time.Second // of silence; a connection that does not answer for as long again is closed
)

// Serve serves l until Shutdown or Close.
func (p *plainServer) Serve(l net.Listener) error {
	if p.secure == nil {
		return p.Server.Serve(&plainListener{l, p})
	}
	over := p.listenSecure(l)
	defer over.wait()
	return p.Server.Serve(over)
}

// Shutdown closes the connections without a request, and waits for the others. net/http's own Shutdown waits for new
// connections that have sent nothing.
func (p *plainServer) Shutdown(ctx context.Context) error {
	if p.secure != nil {
		letFlush(ctx)
	}
	p.SetKeepAlivesEnabled(false) // a connection closes after its request
	closeSeats(p.idle())
	return p.Server.Shutdown(ctx)
}

// flushTime is how long a connection of HTTP/2 is left alone after its last answer. net/http calls it idle before the
// end of that answer is written out, and closes what is idle as it is.
const flushTime = 100 * time.Millisecond

// letFlush lets the ends of answers be written out.
func letFlush(ctx context.Context) {
	flushed := time.NewTimer(flushTime)
	defer flushed.Stop()
	select {
	case <-flushed.C:
	case <-ctx.Done():
	}
}

// Close closes everything, connections in the middle of a handshake too.
func (p *plainServer) Close() error {
	err := p.Server.Close()
	closeSeats(p.those(func(*seat) bool { return true }))
	return err
}

// Bound sets the bounds on connections from now on. What is open stays.
func (p *plainServer) Bound(connections, perAddress int) {
	p.seatsMu.Lock()
	defer p.seatsMu.Unlock()
	p.most, p.perAddress = connections, perAddress
}

// Connections returns how many are open.
func (p *plainServer) Connections() int {
	p.seatsMu.Lock()
	defer p.seatsMu.Unlock()
	return len(p.seats)
}

// Turned returns how many were not served.
func (p *plainServer) Turned() server.Turned {
	p.seatsMu.Lock()
	defer p.seatsMu.Unlock()
	return p.turned
}

// refusing is h, but for the requests by which server.Strict says that it has refused one, and for those of HTTP/2 that
// a Strict would refuse.
func (p *plainServer) refusing(h http.Handler, write time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 {
			p.serve2(h, w, r, write)
			return
		}
		if why, refused := refusedBefore(r); refused {
			p.refuseHead(w, why)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// serve2 serves a stream of HTTP/2. A deadline of net/http's resets the stream even while there is nothing to write: it
// is cleared, conn bounds each write by itself, and what is left to send at the end has a deadline again.
func (p *plainServer) serve2(h http.Handler, w http.ResponseWriter, r *http.Request, write time.Duration) {
	deadlines := http.NewResponseController(w)
	if write > 0 {
		_ = deadlines.SetWriteDeadline(time.Time{}) // HTTP/2 has deadlines
		defer func() { _ = deadlines.SetWriteDeadline(time.Now().Add(write)) }()
	}
	if why, refused := p.refused2(r); refused {
		p.refuseHead(w, why)
		return
	}
	h.ServeHTTP(w, r)
}

// refused2 returns why a request of HTTP/2 is refused that its library lets pass.
func (p *plainServer) refused2(r *http.Request) (why server.Refused, refused bool) {
	fields := 0
	for _, values := range r.Header {
		fields += len(values)
	}
	switch {
	case r.Host == "":
		return server.Refused{Status: 400, Text: "neither :authority nor Host is given", Target: r.RequestURI}, true
	case p.maxFields > 0 && fields > p.maxFields:
		return server.Refused{Status: 431, Text: "the request has too many header fields", Target: r.RequestURI}, true
	}
	return why, false
}

// refusedBefore returns how r's connection refused the request that r stands for, if it did.
func refusedBefore(r *http.Request) (why server.Refused, refused bool) {
	c, _ := r.Context().Value(plainKey{}).(*plainConn)
	if c == nil {
		return why, false
	}
	return c.Refused(r.RequestURI)
}

// plainKey is the key of a request's connection in its context.
type plainKey struct{}

// connected is net/http's ConnContext.
func connected(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, plainKey{}, nc)
}

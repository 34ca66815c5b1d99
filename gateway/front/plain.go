package front

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"octet/internal/http1/server"
)

// plainServer is Go's own server with the bounds on connections that server.Server has of itself. If all places are
// taken, a connection without a request is closed for the new one. If all have one, the new connection is refused, with
// as much of an answer as its socket takes at once.
type plainServer struct {
	*http.Server
	most       int // connections; zero means no limit
	perAddress int // connections of one address; zero means no limit
	maxHead    int // bytes of a head
	maxFields  int // of a head
	newID      func() string

	connsMu sync.Mutex
	conns   map[*plainConn]struct{} // guarded by connsMu, as all of a plainConn
	of      map[netip.Addr]int      // connections of an address; guarded by connsMu
}

// newPlain returns the data listener's server on net/http.
func newPlain(cfg *Config, h http.Handler) *plainServer {
	p := &plainServer{
		Server: netServer(cfg, cfg.refusing(h)), most: cfg.connections(), perAddress: cfg.Limits.PerAddress,
		maxHead: cfg.Limits.head(), maxFields: cfg.Limits.HeaderFields, newID: cfg.NewID,
	}
	p.WriteTimeout = cfg.Limits.WriteTimeout // from a request's head on; an answer sets its own with every write
	p.ConnState, p.ConnContext = p.changed, connected
	return p
}

// Serve serves l.
func (p *plainServer) Serve(l net.Listener) error {
	return p.Server.Serve(&plainListener{l, p})
}

// Shutdown closes the connections without a request, and waits for the others. net/http's own Shutdown waits for new
// connections that have sent nothing.
func (p *plainServer) Shutdown(ctx context.Context) error {
	p.SetKeepAlivesEnabled(false) // a connection closes after its request
	p.connsMu.Lock()
	var idle []*plainConn
	for c := range p.conns {
		if !c.idle.IsZero() {
			idle = append(idle, c)
		}
	}
	p.connsMu.Unlock()
	for _, c := range idle {
		_ = c.Close() // its error changes nothing
	}
	return p.Server.Shutdown(ctx)
}

// refusing is h, but for the requests by which server.Strict says that it has refused one.
func (cfg *Config) refusing(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why, refused := refusedBefore(r); refused {
			cfg.refuseHead(w, why)
			return
		}
		h.ServeHTTP(w, r)
	})
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

// changed is net/http's ConnState.
func (p *plainServer) changed(nc net.Conn, s http.ConnState) {
	c, ok := nc.(*plainConn)
	if !ok {
		return
	}
	p.connsMu.Lock()
	defer p.connsMu.Unlock()
	switch s {
	case http.StateIdle:
		c.idle = time.Now()
	case http.StateActive:
		c.idle = time.Time{}
	default:
	}
}

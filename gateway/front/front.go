package front

import (
	"context"
	"crypto/tls"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"octet/gateway/apierr"
	"octet/internal/contain"
	"octet/internal/http1/server"
)

// Kind is the implementation of HTTP on the data listener.
type Kind string

// The kinds.
const (
	Octet   Kind = "octet"   // internal/http1/server, if the system supports it; else as NetHTTP
	NetHTTP Kind = "nethttp" // Go's own server
)

// Server serves one listener. net/http's server is one.
type Server interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
	Close() error
}

// Bounded is a Server that bounds its connections.
type Bounded interface {
	Server
	// Bound sets the bounds from now on; zero means no limit. What is open stays.
	Bound(connections, perAddress int)
	// Connections returns how many are open.
	Connections() int
	// Turned returns how many were not served.
	Turned() server.Turned
}

// Config is what the servers of both listeners are made from.
type Config struct {
	Kind     Kind            // of the data listener; default Octet
	Base     context.Context // all requests' contexts derive from it
	Limits   Limits
	Replicas int // connections to so many replicas keep their descriptors
	Log      *slog.Logger
	TLS      *tls.Config // of the data listener; nil means plain HTTP
	AdminTLS *tls.Config // of the admin listener, likewise
	Refuse   Refuse
	NewID    func() string // returns the id of a request that could not be read
}

// Limits bound heads and connections.
type Limits struct {
	HeaderTimeout    time.Duration // of a head, and of a TLS handshake
	KeepaliveTimeout time.Duration // of a connection without a request
	WriteTimeout     time.Duration // of a write to a client
	HeaderBytes      int           // as the handler bounds a head; servers accept more
	HeaderFields     int           // zero means no limit
	Connections      int           // of clients; zero means no limit but that of descriptors
	PerAddress       int           // connections of one address; zero means no limit
	Handshakes       int           // of TLS, on their way at once; zero means no limit
}

// Refuse answers a request that no handler is to see.
type Refuse func(w http.ResponseWriter, asked Asked, e *apierr.Error)

// Asked is what is known of a request that is refused. Each is "" if it is not known.
type Asked struct {
	Path string
	ID   string // X-Request-Id as the client sent it
}

// Data returns the server of the data listener. TLS is net/http's, whatever the kind.
func Data(cfg *Config, h http.Handler) Bounded {
	switch {
	case cfg.Kind == NetHTTP, cfg.TLS != nil:
	case server.Supported:
		return ownServer(cfg, h)
	default:
		cfg.Log.Warn("front: octet needs Linux; Go's own server answers clients")
	}
	return newPlain(cfg, h, bounds{most: cfg.Room(cfg.Limits.Connections), perAddress: cfg.Limits.PerAddress,
		write: cfg.Limits.WriteTimeout, secure: cfg.TLS})
}

// Operators is how many connections the admin listener serves, of all addresses together. One without a request makes
// room.
const Operators = 64

// Admin returns the server of the admin listener: always Go's own. Its answers have no deadline: profiles take as long
// as they are asked to.
func Admin(cfg *Config, h http.Handler) Bounded {
	return newPlain(cfg, h, bounds{most: Operators, secure: cfg.AdminTLS})
}

func ownServer(cfg *Config, h http.Handler) *server.Server {
	l := &cfg.Limits
	return &server.Server{
		BaseContext: cfg.Base, Handler: h, Refuse: cfg.refuseHead, ErrorLog: cfg.debugLog(), Panics: contain.Report,
		ReadHeaderTimeout: l.HeaderTimeout, IdleTimeout: l.KeepaliveTimeout, WriteTimeout: l.WriteTimeout,
		MaxHeaderBytes: Head(l.HeaderBytes), MaxFields: l.HeaderFields,
		MaxConnections: cfg.Room(l.Connections), MaxPerAddress: l.PerAddress,
	}
}

func netServer(cfg *Config, h http.Handler) *http.Server {
	l := &cfg.Limits
	return &http.Server{
		BaseContext: func(net.Listener) context.Context { return cfg.Base },
		Handler:     h, ReadHeaderTimeout: l.HeaderTimeout, IdleTimeout: l.KeepaliveTimeout,
		MaxHeaderBytes: max(1<<20, 2*l.HeaderBytes), // the handler and Strict refuse sooner, in the contract's shape
		ErrorLog:       cfg.debugLog(),
	}
}

// leastHead is the least bound on a head, in bytes.
const leastHead = 64 << 10

// Head returns a server's bound on a head, in bytes: well beyond the handler's, so that a head over that is refused by
// the handler.
func Head(headerBytes int) int { return max(leastHead, 2*headerBytes) }

func (cfg *Config) debugLog() *log.Logger {
	return slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug)
}

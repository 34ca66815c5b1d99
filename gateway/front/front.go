package front

import (
	"context"
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

// Config is what the servers of both listeners are made from.
type Config struct {
	Kind     Kind            // of the data listener; default Octet
	Base     context.Context // all requests' contexts derive from it
	Limits   Limits
	Replicas int // connections to so many replicas keep their descriptors
	Log      *slog.Logger
	Refuse   Refuse
	NewID    func() string // returns the id of a request that could not be read
}

// Limits bound heads and connections.
type Limits struct {
	HeaderTimeout    time.Duration // of a head
	KeepaliveTimeout time.Duration // of a connection without a request
	WriteTimeout     time.Duration // of a write to a client
	HeaderBytes      int           // as the handler bounds a head; servers accept more
	HeaderFields     int           // zero means no limit
	Connections      int           // of clients; zero means no limit but that of descriptors
	PerAddress       int           // connections of one address; zero means no limit
}

// Refuse answers a request that no handler is to see.
type Refuse func(w http.ResponseWriter, asked Asked, e *apierr.Error)

// Asked is what is known of a request that is refused. Each is "" if it is not known.
type Asked struct {
	Path string
	ID   string // X-Request-Id as the client sent it
}

// Data returns the server of the data listener.
func Data(cfg *Config, h http.Handler) Server {
	if cfg.Kind != NetHTTP && server.Supported {
		return ownServer(cfg, h)
	}
	if cfg.Kind != NetHTTP {
		cfg.Log.Warn("front: octet needs Linux; Go's own server answers clients")
	}
	return newPlain(cfg, h)
}

// Admin returns the server of the admin listener: always Go's own.
func Admin(cfg *Config, h http.Handler) Server { return netServer(cfg, h) }

func ownServer(cfg *Config, h http.Handler) *server.Server {
	l := &cfg.Limits
	return &server.Server{
		BaseContext: cfg.Base, Handler: h, Refuse: cfg.refuseHead, ErrorLog: cfg.debugLog(), Panics: contain.Report,
		ReadHeaderTimeout: l.HeaderTimeout, IdleTimeout: l.KeepaliveTimeout, WriteTimeout: l.WriteTimeout,
		MaxHeaderBytes: l.head(), MaxFields: l.HeaderFields,
		MaxConnections: cfg.connections(), MaxPerAddress: l.PerAddress,
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

// head is the bound on a head, in bytes: well beyond HeaderBytes, so that a head over that is refused by the handler.
func (l *Limits) head() int { return max(leastHead, 2*l.HeaderBytes) }

func (cfg *Config) debugLog() *log.Logger {
	return slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug)
}

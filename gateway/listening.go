package gateway

import (
	"context"
	"log"
	"log/slog"
	"net"
	"net/http"

	"octet/gateway/apierr"
	"octet/internal/contain"
	"octet/internal/http1/server"
)

// Front is who speaks HTTP on the data listener.
type Front string

// The fronts.
const (
	FrontOctet   Front = "octet"   // internal/http1/server, where the system has what it needs; else as FrontNetHTTP
	FrontNetHTTP Front = "nethttp" // Go's own server
)

// listening is what Run needs of a server: what net/http's does under these names.
type listening interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
	Close() error
}

// dataServer is who answers clients.
func (s *Server) dataServer() listening {
	limits := s.runtime.Load().Limits
	if s.front != FrontNetHTTP && server.Supported {
		return &server.Server{
			BaseContext: s.cutOff, Handler: s.DataHandler(), Refuse: s.refuseHead, ErrorLog: s.debugLog(),
			Panics:            contain.Report,
			ReadHeaderTimeout: limits.HeaderTimeout, IdleTimeout: limits.KeepaliveTimeout,
			WriteTimeout:   limits.WriteTimeout,
			MaxHeaderBytes: max(leastHead, 2*limits.HeaderBytes), MaxFields: limits.HeaderFields,
			MaxConnections: s.mostConnections(), MaxPerAddress: limits.ConnectionsPerAddress,
		}
	}
	if s.front != FrontNetHTTP {
		s.log.Warn("front: octet needs Linux; Go's own server answers clients")
	}
	data := s.httpServer(s.refusing(s.DataHandler()))
	data.WriteTimeout = limits.WriteTimeout // from a request's head on; an answer sets its own with every write
	return &plainServer{Server: data, most: s.mostConnections(), mostOfOne: limits.ConnectionsPerAddress,
		newID:   s.newID,
		maxHead: max(leastHead, 2*limits.HeaderBytes), maxFields: limits.HeaderFields}
}

// leastHead is what a server takes of a head at least, in bytes: up to there checkHeader answers, and names the limit.
const leastHead = 64 << 10

func (s *Server) httpServer(h http.Handler) *http.Server {
	limits := s.runtime.Load().Limits
	return &http.Server{
		BaseContext: func(net.Listener) context.Context { return s.cutOff },
		Handler:     h, ReadHeaderTimeout: limits.HeaderTimeout, IdleTimeout: limits.KeepaliveTimeout,
		MaxHeaderBytes: max(1<<20, 2*limits.HeaderBytes), // ours answers first, in the contract's shape
		ErrorLog:       s.debugLog(),
	}
}

func (s *Server) debugLog() *log.Logger { return slog.NewLogLogger(s.log.Handler(), slog.LevelDebug) }

// refuseHead answers what is no request that a handler could see, in the contract's shape.
func (s *Server) refuseHead(w http.ResponseWriter, status int, message string) {
	e := apierr.New(apierr.InvalidRequest, "", message)
	switch status {
	case http.StatusServiceUnavailable:
		e.Code = apierr.Overloaded
	case http.StatusTooManyRequests:
		e.Code = apierr.QuotaExceeded
	case http.StatusRequestTimeout:
		e.Code = apierr.RequestTimeout
	case http.StatusRequestHeaderFieldsTooLarge:
		e.Code = apierr.HeaderTooLarge
	default:
		e.HTTPStatus = status
	}
	s.writeError(w, s.newID(), "", e)
	s.metrics.Refused(e.Code)
}

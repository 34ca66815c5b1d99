package gateway

import (
	"context"
	"net/http"

	"octet/gateway/dispatch"
	"octet/gateway/front"
	"octet/gateway/intake"
)

// Carried returns a function that answers requests of which another proxy holds the connections, both to clients and to
// engines. The line is the data listener's; by takes what it sends to the replica that is to answer, and that is one of
// among. Requests for anything but a model's answer are answered as on the data listener.
func (s *Server) Carried() func(http.ResponseWriter, *http.Request, dispatch.Courier, intake.Among) {
	rest := s.router()
	return func(w http.ResponseWriter, r *http.Request, by dispatch.Courier, among intake.Among) {
		ctx, end := context.WithCancelCause(r.Context())
		defer end(nil)
		defer context.AfterFunc(s.cutOff, func() { end(context.Cause(s.cutOff)) })()
		line := func(w http.ResponseWriter, r *http.Request) {
			kind, door, is := completes(r)
			if !is {
				rest.ServeHTTP(w, r)
				return
			}
			x := s.begin(w, r)
			x.request.Among, x.dispatch.Courier = among, by
			s.answerTo(x, r, kind, door)
		}
		front.Certain(line, s.reject).ServeHTTP(w, r.WithContext(ctx))
	}
}

// Proved returns true once requests could be served, as /readyz says it.
func (s *Server) Proved() bool { return s.readiness().Once() }

// Via returns what this gateway calls itself to engines.
func (s *Server) Via() string { return s.via }

// Endpoint returns the address of one of the replicas among those that may take requests; "" if there is none.
func (s *Server) Endpoint(among intake.Among) string {
	rt := s.runtime.Load()
	for _, sp := range rt.Specialists {
		hosts := sp.Snapshot().Available()
		for h := range hosts.All() {
			if rep := rt.Replicas[h]; rep != nil && among.Has(rep) && rep.Endpoint() != "" {
				return rep.Endpoint()
			}
		}
	}
	return ""
}

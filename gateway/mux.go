package gateway

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"octet/gateway/api"
	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/doors"
	"octet/gateway/doors/messages"
	"octet/gateway/ensemble"
	"octet/gateway/front"
	"octet/gateway/intake"
	"octet/gateway/receipt"
	"octet/gateway/tenant"
	"octet/gateway/ui"
	"octet/gateway/wire"
)

// DataHandler answers the clients' listener. What is asked for all the time does not go through the router, which finds
// the same.
func (s *Server) DataHandler() http.Handler {
	rest := s.router()
	return front.Certain(func(w http.ResponseWriter, r *http.Request) {
		if kind, door, is := completes(r); is {
			s.complete(w, r, kind, door)
			return
		}
		rest.ServeHTTP(w, r)
	}, s.reject)
}

// completes returns what a request asks for if it is for an answer of a model; false for any other.
func completes(r *http.Request) (kind wire.Kind, door doors.Door, is bool) {
	switch {
	case r.Method != http.MethodPost:
		return kind, nil, false
	case r.URL.Path == wire.Chat.Path():
		return wire.Chat, nil, true
	case r.URL.Path == wire.Completion.Path():
		return wire.Completion, nil, true
	}
	door = doorsByPath[r.URL.Path]
	return wire.Chat, door, door != nil
}

func (s *Server) router() *gin.Engine {
	e := api.NewEngine(s.refuse)
	models, slos := api.Models{Refuse: s.refuse}, api.SLOs{Refuse: s.refuse}
	receipts := api.Receipts{Refuse: s.refuse, Rings: s.receipts, Elsewhere: s.options.Elsewhere}
	outcomes := s.outcomes()
	e.POST(wire.Chat.Path(), func(c *gin.Context) { s.complete(c.Writer, c.Request, wire.Chat, nil) })
	e.POST(wire.Completion.Path(), func(c *gin.Context) { s.complete(c.Writer, c.Request, wire.Completion, nil) })
	for path, door := range doorsByPath {
		e.POST(path, func(c *gin.Context) { s.complete(c.Writer, c.Request, wire.Chat, door) })
	}
	e.POST(messages.CountPath, func(c *gin.Context) { s.countTokens(c.Writer, c.Request) })
	e.POST("/v1/route", func(c *gin.Context) { s.explain(c.Writer, c.Request) })
	e.GET("/v1/models", s.identified(models.List))
	e.GET("/v1/models/:id", s.identified(models.One))
	e.GET("/v1/receipts/:id", s.identified(receipts.Own))
	e.POST("/v1/outcomes", s.identified(outcomes.Handle))
	e.GET("/v1/usage", s.identified(api.Usage{Refuse: s.refuse, Now: s.now}.Handle))
	e.GET("/v1/slo", s.identified(slos.List))
	e.GET("/v1/slo/:specialist", s.identified(slos.One))
	e.GET("/livez", api.Alive)
	e.GET("/readyz", s.readiness().Handle)
	return e
}

// outcomes takes verdicts.
func (s *Server) outcomes() api.Outcomes {
	return api.Outcomes{Refuse: s.refuse, Rings: s.receipts, Verdicts: s.audit.Verdicts, Now: s.now,
		Body: s.readSmall, Elsewhere: s.options.Elsewhere}
}

// Judge counts a verdict on an answer of this gateway's that was given at another one; see api.Outcomes.Hear.
func (s *Server) Judge(j receipt.Judgement) (counted, found bool, refused string) {
	return s.outcomes().Hear(s.runtime.Load(), j)
}

// AdminHandler answers the operators' listener. With a token configured, everything on it needs the token.
func (s *Server) AdminHandler() http.Handler { return front.Certain(s.operators().ServeHTTP, s.reject) }

func (s *Server) operators() *gin.Engine {
	e, o := api.NewEngine(s.refuse), &s.options
	page := gin.WrapH(ui.Handler())
	e.GET("/ui/*file", page) // without the token, which it asks for: there is nothing in it
	e.HEAD("/ui/*file", page)
	e.Use(api.Operator{Refuse: s.refuse, Token: o.AdminToken, Hosts: o.AdminHosts}.Handle)
	s.views(e)
	s.orders(e)
	bounded := s.metrics.Bounded(func() int { return s.runtime.Load().Limits.Series })
	e.GET("/metrics", gin.WrapH(promhttp.HandlerFor(bounded, promhttp.HandlerOpts{})))
	e.GET("/livez", api.Alive)
	e.GET("/readyz", s.readiness().Handle) // as on the data listener, where clients' connections may be in the way
	if o.Pprof {
		api.Profiles(e)
	}
	return e
}

// views adds the routes that change nothing.
func (s *Server) views(e *gin.Engine) {
	o := &s.options
	state := &api.State{Current: s.Runtime, Open: s.seats.Open, Draining: s.seats.Draining, Probation: s.probation,
		Leaving: o.Leaving, Finder: o.Finder, Started: s.started, Doctor: o.Examine != nil}
	caches := api.Caches{Refuse: s.refuse, Current: s.Runtime, Index: o.Index, Knowledge: o.Knowledge, Log: s.log}
	receipts := api.Receipts{Refuse: s.refuse, Rings: s.receipts, Elsewhere: o.Elsewhere}
	requests := api.Requests{Refuse: s.refuse, Current: s.Runtime, Leaving: o.Leaving, Now: s.now}
	doctor := api.Doctor{Refuse: s.refuse, Examine: o.Examine, Connects: o.Connects}
	decisions := api.Decisions{Refuse: s.refuse, Live: s.live}
	calibration := api.Calibration{Refuse: s.refuse, Of: o.Calibrated}
	e.GET("/admin/state", state.Handle)
	e.GET("/admin/requests", requests.Handle)
	e.GET("/admin/index", caches.Handle)
	e.GET("/admin/index/snapshot", caches.Snapshot)
	e.GET("/admin/doctor", doctor.Handle)
	e.GET("/admin/findings", doctor.Findings)
	e.GET("/admin/slo", state.SLOs)
	e.GET("/admin/decisions", decisions.Handle)
	e.GET("/admin/calibration", calibration.Handle)
	e.POST("/admin/route", func(c *gin.Context) { s.explainToOperators(c.Writer, c.Request) })
	e.GET("/admin/receipts/:id", receipts.Any)
	e.GET("/admin/gateways", api.Gateways{Refuse: s.refuse, Of: o.Gateways}.Handle)
}

// orders adds the routes by which operators change what is in force, and see it.
func (s *Server) orders(e *gin.Engine) {
	o := &s.options
	registrations := api.Registrations{Refuse: s.refuse, Finder: o.Finder}
	replicas := api.Replicas{Refuse: s.refuse, Current: s.Runtime, Now: s.now}
	knobs := api.Knobs{Refuse: s.refuse, Knobs: s.knobs, Now: s.now, Log: s.log}
	reload := api.Reload{Refuse: s.refuse, Current: s.Runtime, Reload: o.Reload, Finder: o.Finder}
	e.GET("/admin/breakers", replicas.Breakers)
	e.GET("/admin/knobs", knobs.List)
	e.PUT("/admin/knobs/:name", knobs.Set)
	e.DELETE("/admin/knobs/:name", knobs.Clear)
	e.POST("/admin/reload", reload.Handle)
	e.POST("/admin/replicas", registrations.Register)
	e.DELETE("/admin/replicas/:replica", registrations.Deregister)
	e.POST("/admin/drain/:replica", replicas.Drain)
	e.DELETE("/admin/drain/:replica", replicas.Undrain)
}

// readiness answers /readyz, on both listeners.
func (s *Server) readiness() api.Ready {
	return api.Ready{Refuse: s.refuse, Current: s.Runtime, Proved: &s.proved, Draining: s.seats.CheckDrain, Now: s.now}
}

// refuse answers with a typed error outside the straight line.
func (s *Server) refuse(c *gin.Context, e *apierr.Error) {
	s.reject(c.Writer, front.Asked{Path: c.Request.URL.Path, ID: c.GetHeader("X-Request-Id")}, e)
}

// reject answers a request that has no exchange, in the words of the door that its path belongs to.
func (s *Server) reject(w http.ResponseWriter, asked front.Asked, e *apierr.Error) {
	writeError(w, doorOf(asked.Path), identity{request: intake.RequestID(asked.ID)}, e)
	s.metrics.Refused(e.Code)
}

// identified wraps a handler that needs to know the tenant.
func (s *Server) identified(h api.TenantHandler) gin.HandlerFunc {
	return func(c *gin.Context) {
		rt := s.runtime.Load()
		if err := intake.CheckHeader(c.Request, rt.Limits.HeaderBytes); err != nil {
			s.refuse(c, err)
			return
		}
		tenant, err := rt.Tenants.Identify(c.Request, s.now())
		if err != nil {
			s.refuse(c, err)
			return
		}
		c.Header("X-Request-Id", intake.RequestID(c.GetHeader("X-Request-Id")))
		h(c, rt, tenant)
	}
}

// readSmall reads a JSON body of at most api.MaxBody bytes, as one among all bodies that are on their way.
func (s *Server) readSmall(c *gin.Context, rt *ensemble.Runtime, t *tenant.Tenant) ([]byte, *apierr.Error) {
	if len(c.Request.Header["Content-Type"]) > 1 {
		return nil, apierr.Repeated("Content-Type")
	}
	if err := intake.CheckMedia(c.GetHeader("Content-Encoding"), c.GetHeader("Content-Type")); err != nil {
		return nil, err
	}
	client := conn.Of(c.Writer, c.Request)
	u := s.inbound.Expect(client, c.Request, rt.Limits.Inbound, t.Name)
	defer s.inbound.End(u)
	_ = client.SetReadDeadline(s.now().Add(rt.Limits.BodyTimeout)) // not every transport has deadlines
	body, err := io.ReadAll(io.LimitReader(c.Request.Body, api.MaxBody+1))
	refused := s.inbound.Grow(u, len(body))
	switch {
	case refused != nil:
		return nil, refused
	case err != nil:
		return nil, intake.BodyError(err)
	case len(body) > api.MaxBody:
		return nil, apierr.New(apierr.PayloadTooLarge, "", fmt.Sprintf("an outcome is at most %d bytes", api.MaxBody))
	}
	_ = client.SetReadDeadline(time.Time{})
	return body, nil
}

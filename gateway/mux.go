package gateway

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
	"octet/gateway/wire"
)

// DataHandler answers the clients' listener. What is asked for all the time does not go through the router, which finds
// the same.
func (s *Server) DataHandler() http.Handler {
	rest := s.router()
	return s.certain(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodPost:
		case r.URL.Path == chatPath:
			s.complete(w, r, wire.Chat)
			return
		case r.URL.Path == completionPath:
			s.complete(w, r, wire.Completion)
			return
		}
		rest.ServeHTTP(w, r)
	})
}

func (s *Server) router() *gin.Engine {
	e := s.bare()
	e.POST(chatPath, func(c *gin.Context) { s.complete(c.Writer, c.Request, wire.Chat) })
	e.POST(completionPath, func(c *gin.Context) { s.complete(c.Writer, c.Request, wire.Completion) })
	e.POST("/v1/route", func(c *gin.Context) { s.explain(c.Writer, c.Request) })
	e.GET("/v1/models", s.identified(s.listModels))
	e.GET("/v1/models/:id", s.identified(s.oneModel))
	e.GET("/v1/receipts/:id", s.identified(s.oneReceipt))
	e.POST("/v1/outcomes", s.identified(s.outcome))
	e.GET("/v1/slo", s.identified(s.allSLOs))
	e.GET("/v1/slo/:specialist", s.identified(s.oneSLO))
	e.GET("/livez", func(c *gin.Context) { c.String(http.StatusOK, "ok\n") })
	e.GET("/readyz", s.ready)
	return e
}

// bare returns a gin engine whose every answer, also to unknown routes, is in the contract's shape.
func (s *Server) bare() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.RedirectTrailingSlash = false
	e.RedirectFixedPath = false
	e.HandleMethodNotAllowed = true
	e.NoRoute(func(c *gin.Context) {
		s.refuse(c, apierr.New(apierr.RouteNotFound, "", "there is nothing at "+c.Request.URL.Path))
	})
	e.NoMethod(func(c *gin.Context) {
		s.refuse(c, apierr.New(apierr.MethodNotAllowed, "", c.Request.Method+" is not possible at "+c.Request.URL.Path))
	})
	return e
}

// refuse answers with a typed error outside the straight line.
func (s *Server) refuse(c *gin.Context, e *apierr.Error) {
	s.writeError(c.Writer, requestID(c.GetHeader("X-Request-Id"), s.newID), "", e)
	s.metrics.Refused(e.Code)
}

// identified wraps a handler that needs to know the tenant.
func (s *Server) identified(h func(*gin.Context, *ensemble.Runtime, *tenant.Tenant)) gin.HandlerFunc {
	return func(c *gin.Context) {
		rt := s.runtime.Load()
		if err := checkHeader(c.Request, rt.Limits.HeaderBytes); err != nil {
			s.refuse(c, err)
			return
		}
		tenant, err := rt.Tenants.Identify(c.Request)
		if err != nil {
			s.refuse(c, err)
			return
		}
		c.Header("X-Request-Id", requestID(c.GetHeader("X-Request-Id"), s.newID))
		h(c, rt, tenant)
	}
}

func (s *Server) ready(c *gin.Context) {
	if s.draining.Load() {
		s.refuse(c, s.drainingError())
		return
	}
	if e := unready(s.runtime.Load(), s.now()); e != nil {
		s.refuse(c, e)
		return
	}
	c.String(http.StatusOK, "ready\n")
}

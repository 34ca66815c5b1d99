package gateway

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/http/pprof"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
	"octet/slo"
)

// AdminHandler answers the operators' listener. With a token configured, everything on it needs the token.
func (s *Server) AdminHandler() http.Handler {
	e := s.bare()
	e.Use(s.operator)
	e.GET("/admin/state", s.state)
	e.GET("/admin/index", s.indexState)
	e.GET("/admin/index/snapshot", s.indexSnapshot)
	e.GET("/admin/breakers", s.breakers)
	e.GET("/admin/receipts/:id", s.anyReceipt)
	e.GET("/admin/knobs", s.listKnobs)
	e.PUT("/admin/knobs/:name", s.setKnob)
	e.DELETE("/admin/knobs/:name", s.clearKnob)
	e.POST("/admin/reload", s.reloadNow)
	e.POST("/admin/drain/:replica", func(c *gin.Context) { s.drainReplica(c, true) })
	e.DELETE("/admin/drain/:replica", func(c *gin.Context) { s.drainReplica(c, false) })
	e.GET("/metrics", gin.WrapH(promhttp.HandlerFor(s.metrics.Registry(), promhttp.HandlerOpts{})))
	e.GET("/livez", func(c *gin.Context) { c.String(http.StatusOK, "ok\n") })
	e.GET("/readyz", s.ready) // as on the data listener, where clients' connections may be in the way
	if s.pprof {
		profiles(e)
	}
	return s.certain(e.ServeHTTP)
}

func profiles(e *gin.Engine) {
	e.GET("/debug/pprof/cmdline", gin.WrapF(pprof.Cmdline))
	e.GET("/debug/pprof/profile", gin.WrapF(pprof.Profile))
	e.GET("/debug/pprof/symbol", gin.WrapF(pprof.Symbol))
	e.GET("/debug/pprof/trace", gin.WrapF(pprof.Trace))
	for _, name := range []string{"", "heap", "goroutine", "allocs", "block", "mutex", "threadcreate"} {
		e.GET("/debug/pprof/"+name, gin.WrapF(pprof.Index))
	}
}

// knowsToken reports whether an Authorization header has the admin token, if there is one.
func (s *Server) knowsToken(authorization string) bool {
	key, _ := tenant.BearerKey(authorization)
	return s.adminToken == "" || subtle.ConstantTimeCompare([]byte(key), []byte(s.adminToken)) == 1
}

// ReplicaState is one replica in GET /admin/state.
type ReplicaState struct {
	Name       string `json:"name"`
	Engine     string `json:"engine"`                // the kind it is taken for
	Says       string `json:"engine_says,omitempty"` // the kind that the engine says it is of, where that is another
	Healthy    bool   `json:"healthy"`
	Draining   bool   `json:"draining"`
	Breaker    string `json:"breaker"`
	InFlight   int    `json:"in_flight"`
	Total      int    `json:"total"` // blocks; free + used + reserved
	Free       int    `json:"free"`
	Used       int    `json:"used"`
	Reserved   int    `json:"reserved"`
	Cached     int    `json:"cached"` // blocks in the modelled prefix cache
	Waiting    int    `json:"waiting"`
	Running    int    `json:"running"`
	Preempting int    `json:"preempting"`
	Shadow     int    `json:"shadow"`
}

// SpecialistState is one specialist in GET /admin/state: its replicas and their sums.
type SpecialistState struct {
	Name       string         `json:"name"`
	Total      int            `json:"total"`
	Free       int            `json:"free"`
	Used       int            `json:"used"`
	Reserved   int            `json:"reserved"`
	Waiting    int            `json:"waiting"`
	Running    int            `json:"running"`
	Preempting int            `json:"preempting"`
	Shadow     int            `json:"shadow"`
	Replicas   []ReplicaState `json:"replicas"`
	// Probation is of this specialist and its adapters: those that are fresh.
	Probation []slo.Trial `json:"probation,omitempty"`
}

func (s *Server) state(c *gin.Context) {
	rt := s.runtime.Load()
	list := make([]SpecialistState, 0, len(rt.Specialists))
	for _, sp := range rt.Specialists {
		list = append(list, specialistState(rt, sp))
	}
	for _, p := range s.probation.Standings() {
		for i := range list {
			if p.Fresh && list[i].Name == p.Specialist {
				list[i].Probation = append(list[i].Probation, p)
			}
		}
	}
	c.JSON(http.StatusOK, gin.H{"generation": rt.Generation, "open": s.open.Load(), "draining": s.draining.Load(),
		"specialists": list})
}

func specialistState(rt *ensemble.Runtime, sp *ensemble.Specialist) SpecialistState {
	out := SpecialistState{Name: sp.Name, Replicas: []ReplicaState{}}
	for _, rep := range &rt.Replicas {
		if rep == nil || rep.Fleet.Spec().Specialist != sp.Name {
			continue
		}
		r := replicaState(rep)
		out.Total += r.Total
		out.Free += r.Free
		out.Used += r.Used
		out.Reserved += r.Reserved
		out.Waiting += r.Waiting
		out.Running += r.Running
		out.Preempting += r.Preempting
		out.Shadow += r.Shadow
		out.Replicas = append(out.Replicas, r)
	}
	return out
}

func replicaState(rep *ensemble.Replica) ReplicaState {
	g := rep.Gate.Stats()
	return ReplicaState{
		Name: rep.Name, Engine: rep.Kind.Name, Says: rep.ContradictedKind(), Healthy: rep.Fleet.Healthy(),
		Draining: rep.Fleet.Draining(), Breaker: rep.Fleet.State(), InFlight: rep.Fleet.Load().InFlight,
		Total: g.Total, Free: g.Free, Used: g.Used, Reserved: g.Reserved, Cached: g.Cached,
		Waiting: g.Waiting, Running: g.Running, Preempting: g.Preempting, Shadow: int(rep.Shadows.Load()),
	}
}

func (s *Server) indexState(c *gin.Context) {
	replicas := gin.H{}
	for _, rep := range &s.runtime.Load().Replicas {
		if rep != nil {
			replicas[rep.Name] = s.replicaIndex(rep)
		}
	}
	st := s.index.Stats()
	out := gin.H{"digest": fmt.Sprintf("%016x", s.index.Digest()), "entries": st.Entries, "bytes": st.Bytes,
		"evicted": st.Evicted, "refused": st.Refused, "replicas": replicas}
	if s.knowledge != nil {
		out["sources"] = s.knowledge.Sources()
	}
	c.JSON(http.StatusOK, out)
}

func (s *Server) replicaIndex(rep *ensemble.Replica) gin.H {
	h := s.index.Host(rep.Host)
	var tokens *ensemble.TokenCheck // null where they are not compared
	if c, ok := rep.TokensChecked(); ok {
		tokens = &c
	}
	out := gin.H{
		"tokens": tokens, "slot": rep.Host, "epoch": h.Epoch, "last_seq": h.LastSeq, "stale": h.Stale,
		"gaps": h.Gaps, "resyncs": h.Resyncs, "blocks": h.Blocks,
		"events": rep.Fleet.Spec().HasEvents, "hit_accuracy": rep.Accuracy.Read(),
	}
	if s.knowledge != nil {
		out["trust"], out["refused_events"] = s.knowledge.Trust(rep.Host), s.knowledge.RefusedEvents(rep.Name)
	}
	return out
}

// indexSnapshot hands all that is known of the caches to another gateway. What fails on the way shows there: the end is
// missing.
func (s *Server) indexSnapshot(c *gin.Context) {
	if s.knowledge == nil {
		s.refuse(c, apierr.New(apierr.RouteNotFound, "", "this gateway has no snapshot to give"))
		return
	}
	c.Header("Content-Type", "application/octet-stream")
	if err := s.knowledge.Save(c.Writer); err != nil {
		s.log.Warn("a snapshot was not taken whole", "error", err)
	}
}

func (s *Server) breakers(c *gin.Context) {
	replicas := gin.H{}
	for _, rep := range &s.runtime.Load().Replicas {
		if rep != nil {
			replicas[rep.Name] = rep.Fleet.State()
		}
	}
	specialists, now := gin.H{}, s.now()
	for _, sp := range s.runtime.Load().Specialists {
		state := gin.H{"correctness": sp.Board.Breaker().State(now)}
		if sp.Load != nil {
			state["load"] = sp.Load.State()
		}
		specialists[sp.Name] = state
	}
	c.JSON(http.StatusOK, gin.H{"replicas": replicas, "specialists": specialists})
}

func (s *Server) reloadNow(c *gin.Context) {
	if s.reload == nil {
		s.refuse(c, apierr.New(apierr.InvalidRequest, "", "this gateway has no config file to reload"))
		return
	}
	if err := s.reload(context.WithoutCancel(c.Request.Context())); err != nil {
		s.refuse(c, apierr.New(apierr.InvalidRequest, "", err.Error()))
		return
	}
	c.JSON(http.StatusOK, gin.H{"generation": s.runtime.Load().Generation})
}

func (s *Server) drainReplica(c *gin.Context, on bool) {
	name := c.Param("replica")
	for _, rep := range &s.runtime.Load().Replicas {
		if rep != nil && rep.Name == name {
			rep.Fleet.SetDraining(on)
			c.JSON(http.StatusOK, replicaState(rep))
			return
		}
	}
	s.refuse(c, apierr.New(apierr.ModelNotFound, "replica", "there is no replica "+name))
}

package api

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
)

// Ready answers /readyz.
type Ready struct {
	Refuse   Refuse
	Current  Current
	Draining func() *apierr.Error // nil while the gateway is not
	Proved   *atomic.Bool         // it was ready once; before, a replica serves only if it has answered
	Now      func() time.Time
}

// Handle answers whether requests can be served.
func (h Ready) Handle(c *gin.Context) {
	if e := h.Draining(); e != nil {
		h.Refuse(c, e)
		return
	}
	if e := unready(h.Current(), h.Now(), h.Proved.Load()); e != nil {
		h.Refuse(c, e)
		return
	}
	h.Proved.Store(true)
	c.String(http.StatusOK, "ready\n")
}

// Once returns true if requests can be served, or could be before.
func (h Ready) Once() bool {
	if !h.Proved.Load() && unready(h.Current(), h.Now(), false) == nil {
		h.Proved.Store(true)
	}
	return h.Proved.Load()
}

// Alive answers /livez.
func Alive(c *gin.Context) { c.String(http.StatusOK, "ok\n") }

// unready returns why no request can be served; nil if any specialist can serve, or all of them, as ReadyWhen says.
// trusted says that replicas count that have not answered yet: those that a reload brings.
func unready(rt *ensemble.Runtime, now time.Time, trusted bool) *apierr.Error {
	e, serving := apierr.New(apierr.NoHealthyReplica, "", "no replica serves"), 0
	for _, sp := range rt.Specialists {
		s := sp.Snapshot()
		if s.Serves() && (trusted || s.Proved()) || wakes(sp) {
			serving++
		} else if back := s.Recovery(now); e.RetryAfter == 0 || back > 0 && back < e.RetryAfter {
			e.RetryAfter = back
		}
	}
	if serving == len(rt.Specialists) || serving > 0 && rt.ReadyWhen != ensemble.ReadyAll {
		return nil
	}
	return e
}

// wakes reports whether a request for sp would be held until a replica that sleeps is awake: it is served, later.
func wakes(sp *ensemble.Specialist) bool {
	if sp.Hold == nil || sp.Hold.Terms().For == 0 {
		return false
	}
	return sp.Snapshot().Sleeps()
}

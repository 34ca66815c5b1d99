package api

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
)

// Replicas answers /admin/breakers and /admin/drain.
type Replicas struct {
	Refuse  Refuse
	Current Current
	Now     func() time.Time
}

// Breakers answers with the state of each replica's breaker, and of each specialist's.
func (h Replicas) Breakers(c *gin.Context) {
	rt, now := h.Current(), h.Now()
	replicas, specialists := gin.H{}, gin.H{}
	for _, rep := range &rt.Replicas {
		if rep != nil {
			replicas[rep.Name] = rep.Fleet.State()
		}
	}
	for _, sp := range rt.Specialists {
		state := gin.H{"correctness": sp.Board.Breaker().State(now)}
		if sp.Load != nil {
			state["load"] = sp.Load.State()
		}
		specialists[sp.Name] = state
	}
	c.JSON(http.StatusOK, gin.H{"replicas": replicas, "specialists": specialists})
}

// Drain begins to drain a replica.
func (h Replicas) Drain(c *gin.Context) { h.setDraining(c, true) }

// Undrain ends that, and what a Shutdown event began.
func (h Replicas) Undrain(c *gin.Context) { h.setDraining(c, false) }

func (h Replicas) setDraining(c *gin.Context, on bool) {
	name := c.Param("replica")
	for _, rep := range &h.Current().Replicas {
		if rep != nil && rep.Name == name {
			if on {
				rep.Fleet.SetDraining(true)
			} else {
				rep.Fleet.Undrain()
			}
			c.JSON(http.StatusOK, replicaState(rep))
			return
		}
	}
	h.Refuse(c, apierr.New(apierr.ModelNotFound, "replica", "there is no replica "+name))
}

// Reload answers /admin/reload.
type Reload struct {
	Refuse  Refuse
	Current Current
	Reload  func(context.Context) error // nil if there is no file to reload
	Finder  Finder                      // nil where no replica waits for a slot
}

// Handle reloads the configuration and answers with the generation in force, and with how many of its replicas wait for
// a slot.
func (h Reload) Handle(c *gin.Context) {
	if h.Reload == nil {
		h.Refuse(c, apierr.New(apierr.InvalidRequest, "", "this gateway has no config file to reload"))
		return
	}
	if err := h.Reload(context.WithoutCancel(c.Request.Context())); err != nil {
		h.Refuse(c, apierr.New(apierr.InvalidRequest, "", err.Error()))
		return
	}
	answer := gin.H{"generation": h.Current().Generation, "pending": 0}
	if h.Finder != nil {
		answer["pending"] = h.Finder.Sources().Pending
	}
	c.JSON(http.StatusOK, answer)
}

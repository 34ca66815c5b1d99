package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"octet/gateway/ensemble"
	"octet/slo"
)

// ReplicaState is one replica in GET /admin/state.
type ReplicaState struct {
	Name       string `json:"name"`
	Engine     string `json:"engine"`                // the kind that it is taken for
	Says       string `json:"engine_says,omitempty"` // the kind that the engine says it is of, if that is another
	Healthy    bool   `json:"healthy"`
	Draining   bool   `json:"draining"`
	Withdrawn  bool   `json:"withdrawn"` // its engine has announced its end, or its events have stopped
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

// State answers /admin/state.
type State struct {
	Current   Current
	Open      func() int64 // requests being answered
	Draining  func() bool
	Probation *slo.Probation
}

// Handle answers with the state of all specialists.
func (h State) Handle(c *gin.Context) {
	rt := h.Current()
	list := make([]SpecialistState, 0, len(rt.Specialists))
	for _, sp := range rt.Specialists {
		list = append(list, specialistState(rt, sp))
	}
	for _, p := range h.Probation.Standings() {
		for i := range list {
			if p.Fresh && list[i].Name == p.Specialist {
				list[i].Probation = append(list[i].Probation, p)
			}
		}
	}
	c.JSON(http.StatusOK, gin.H{"generation": rt.Generation, "open": h.Open(), "draining": h.Draining(),
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
		Draining: rep.Fleet.Draining(), Withdrawn: rep.Fleet.Withdrawn(), Breaker: rep.Fleet.State(),
		InFlight: rep.Fleet.Load().InFlight,
		Total:    g.Total, Free: g.Free, Used: g.Used, Reserved: g.Reserved, Cached: g.Cached,
		Waiting: g.Waiting, Running: g.Running, Preempting: g.Preempting, Shadow: int(rep.Shadows.Load()),
	}
}

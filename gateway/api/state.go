package api

import (
	"cmp"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"octet/adapters"
	"octet/gateway/ensemble"
	"octet/gateway/metrics"
	"octet/slo"
)

// HitAccuracy is what became of predicted hits.
type HitAccuracy = metrics.HitAccuracy

// AdapterView is one adapter at one replica.
type AdapterView = adapters.View

// ReplicaState is one replica in GET /admin/state.
type ReplicaState struct {
	Name     string `json:"name"`
	URL      string `json:"url"`
	Engine   string `json:"engine"`                // the kind that it is taken for
	Says     string `json:"engine_says,omitempty"` // the kind that the engine says it is of, if that is another
	Revision string `json:"revision,omitempty"`    // of its weights, as the engine tells it
	Healthy  bool   `json:"healthy"`
	Draining bool   `json:"draining"`
	// its engine has announced its end, or says that it does not serve, its events have stopped, or it is found no more
	Withdrawn bool `json:"withdrawn"`
	// why no request is sent to it: asleep | loading | model_absent | shutdown | left (found no more) | silent |
	// draining | down; absent if it gets requests
	Why     string `json:"why,omitempty"`
	Breaker string `json:"breaker"`
	Source  string `json:"source"` // what has found it; config where it is listed
	// when its registration ends, if it has one
	LeaseEnds time.Time `json:"lease_ends,omitzero"`
	InFlight  int       `json:"in_flight"`
	Total     int       `json:"total"` // blocks; free + used + reserved
	Free      int       `json:"free"`
	Used      int       `json:"used"`
	Reserved  int       `json:"reserved"`
	Cached    int       `json:"cached"` // blocks in the modelled prefix cache
	// what became of the hits that were predicted
	Hits       HitAccuracy `json:"hits"`
	Waiting    int         `json:"waiting"`
	Queue      []Queued    `json:"queue,omitempty"` // Waiting by priority
	Running    int         `json:"running"`
	Preempting int         `json:"preempting"`
	Shadow     int         `json:"shadow"`
	// those that it has, is to have, or could not load
	Adapters []AdapterView `json:"adapters,omitempty"`
}

// AdapterWork is what was done so far to have a specialist's adapters at its replicas.
type AdapterWork struct {
	Loads    uint64 `json:"loads"`
	Failures uint64 `json:"failures"`           // of loads
	Evicted  uint64 `json:"evicted"`            // unloaded to make room for another
	Unloaded uint64 `json:"unloaded_otherwise"` // for every other reason
}

// workOf returns what a Keeper has done; nil without one.
func workOf(k *adapters.Keeper) *AdapterWork {
	if k == nil {
		return nil
	}
	c := k.Counts()
	w := &AdapterWork{Loads: c.Loads, Failures: c.Failures, Evicted: c.Unloads[adapters.ForRoom]}
	for _, n := range c.Unloads {
		w.Unloaded += n
	}
	w.Unloaded -= w.Evicted
	return w
}

// SpecialistState is one specialist in GET /admin/state: its replicas and their sums.
type SpecialistState struct {
	Name       string         `json:"name"`
	Total      int            `json:"total"`
	Free       int            `json:"free"`
	Used       int            `json:"used"`
	Reserved   int            `json:"reserved"`
	Cached     int            `json:"cached"`
	Waiting    int            `json:"waiting"`
	Queue      []Queued       `json:"queue,omitempty"` // Waiting by priority
	Running    int            `json:"running"`
	Preempting int            `json:"preempting"`
	Shadow     int            `json:"shadow"`
	Fallback   string         `json:"fallback,omitempty"` // stands in for it while it is demoted
	Totals     metrics.Totals `json:"totals"`
	Hits       HitAccuracy    `json:"hits"` // that were predicted
	Replicas   []ReplicaState `json:"replicas"`
	// absent if adapters are not asked for, or not kept by this gateway
	AdapterWork *AdapterWork `json:"adapter_work,omitempty"`
	// Probation is of this specialist and its adapters: those that are fresh.
	Probation []slo.Trial `json:"probation,omitempty"`
}

// EnsembleState answers GET /admin/state.
type EnsembleState struct {
	Generation  uint64            `json:"generation"` // of the configuration in force
	Open        int64             `json:"open"`       // requests being answered
	Draining    bool              `json:"draining"`
	Started     time.Time         `json:"started"`
	Doctor      bool              `json:"doctor"` // there is GET /admin/doctor
	Specialists []SpecialistState `json:"specialists"`
	// Leaving are replicas that a reload has taken out and that still have requests. They are in no specialist's sums.
	Leaving   []ReplicaState  `json:"leaving,omitempty"`
	Discovery *DiscoveryState `json:"discovery,omitempty"` // absent where all replicas are listed
	JWKS      *IssuerState    `json:"jwks,omitempty"`      // absent without auth.jwt
}

// State answers /admin/state.
type State struct {
	Current   Current
	Leaving   Leaving
	Open      func() int64 // requests being answered
	Draining  func() bool
	Probation *slo.Probation
	Finder    Finder // nil where all replicas are listed
	Started   time.Time
	Doctor    bool // there is GET /admin/doctor
}

// wanted is which part of the state is asked for, by the parameters specialist, replica and adapters=none.
type wanted struct {
	specialist, replica string // "" is each
	adapters            bool
}

// Handle answers with the state of all specialists, or of those that are wanted.
func (h *State) Handle(c *gin.Context) {
	rt, want := h.Current(), wanted{c.Query("specialist"), c.Query("replica"), c.Query("adapters") != "none"}
	list := make([]SpecialistState, 0, len(rt.Specialists))
	for _, sp := range rt.Specialists {
		if want.specialist != "" && want.specialist != sp.Name {
			continue
		}
		one := specialistState(rt, sp, &want)
		for i := range one.Replicas {
			if r := &one.Replicas[i]; h.Finder != nil {
				r.LeaseEnds = h.Finder.LeaseEnds(r.Name)
			}
		}
		list = append(list, one)
	}
	for _, p := range h.Probation.Standings() {
		for i := range list {
			if p.Fresh && list[i].Name == p.Specialist {
				list[i].Probation = append(list[i].Probation, p)
			}
		}
	}
	state := EnsembleState{Generation: rt.Generation, Open: h.Open(), Draining: h.Draining(), Specialists: list,
		Started: h.Started, Doctor: h.Doctor, JWKS: issuerState(rt.Tenants, time.Now())}
	state.Leaving = h.leaving(&want)
	if h.Finder != nil {
		found := h.Finder.Sources()
		state.Discovery = &found
	}
	c.JSON(http.StatusOK, state)
}

// leaving returns the replicas that are taken out, of those that are wanted.
func (h *State) leaving(want *wanted) (list []ReplicaState) {
	for _, rep := range h.Leaving.replicas() {
		if (want.specialist == "" || want.specialist == rep.Fleet.Spec().Specialist) &&
			(want.replica == "" || want.replica == rep.Name) {
			r := replicaState(rep)
			r.Withdrawn, r.Why = true, "left"
			list = append(list, r)
		}
	}
	return list
}

// SLOs answers /admin/slo: the reports of all specialists.
func (h *State) SLOs(c *gin.Context) {
	rt := h.Current()
	reports := make(map[string]slo.Report, len(rt.Specialists))
	for _, sp := range rt.Specialists {
		reports[sp.Name] = sp.Board.Report()
	}
	c.JSON(http.StatusOK, gin.H{"specialists": reports})
}

// specialistState returns the sums over all replicas, and those that are wanted.
func specialistState(rt *ensemble.Runtime, sp *ensemble.Specialist, want *wanted) SpecialistState {
	out := SpecialistState{Name: sp.Name, Fallback: sp.Fallback, Totals: sp.Metrics.Totals(),
		Replicas: []ReplicaState{}}
	if sp.Metrics != nil {
		out.Hits = sp.Metrics.Predicted.Read()
	}
	if want.adapters {
		out.AdapterWork = workOf(sp.Keeper)
	}
	for _, rep := range &rt.Replicas {
		if rep == nil || rep.Fleet.Spec().Specialist != sp.Name {
			continue
		}
		r := replicaState(rep)
		listed := want.replica == "" || want.replica == rep.Name
		if listed && want.adapters && sp.Keeper != nil {
			r.Adapters = sp.Keeper.Views(uint16(rep.Host))
		}
		out.Cached += r.Cached
		out.Total += r.Total
		out.Free += r.Free
		out.Used += r.Used
		out.Reserved += r.Reserved
		out.Waiting += r.Waiting
		out.Queue = addQueued(out.Queue, r.Queue)
		out.Running += r.Running
		out.Preempting += r.Preempting
		out.Shadow += r.Shadow
		if listed {
			out.Replicas = append(out.Replicas, r)
		}
	}
	return out
}

func replicaState(rep *ensemble.Replica) ReplicaState {
	g := rep.Gate.Stats()
	r := ReplicaState{
		Name: rep.Name, URL: rep.Fleet.Spec().URL, Source: cmp.Or(rep.Source, "config"), Engine: rep.Kind.Name,
		Says: rep.ContradictedKind(), Revision: rep.Revision(), Healthy: rep.Fleet.Healthy(),
		Draining: rep.Fleet.Draining(), Withdrawn: rep.Fleet.Withdrawn(), Why: string(rep.Fleet.Why()),
		Breaker:  rep.Fleet.State(),
		InFlight: rep.Fleet.Own().Running,
		Total:    g.Total, Free: g.Free, Used: g.Used, Reserved: g.Reserved, Cached: g.Cached,
		Hits:    rep.Accuracy.Read(),
		Waiting: g.Waiting, Running: g.Running, Preempting: g.Preempting, Shadow: int(rep.Shadows.Load()),
	}
	if g.Waiting > 0 {
		r.Queue = queuedAt(rep)
	}
	return r
}

package plugins

import (
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// Resident knows which adapters are loaded where. Safe for concurrent use.
type Resident interface {
	Resident(host uint16, adapter string) bool
	On(host uint16) []string
}

// What a candidate scores for the request's adapter.
const (
	adapterHere    = 1.0 // loaded, or in the batch
	adapterFits    = 0.8 // there is room to load it
	adapterWaiting = 0.6 // no room now, but requests for it wait there already
)

// loraAffinity scores replicas that have the request's adapter, then those that have room for it. All get 1 for a
// request without one.
type loraAffinity struct {
	named
	resident Resident // nil: only what engines report
}

func newLoRAAffinity(d Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return loraAffinity{named{"lora-affinity", reads(Fleet)}, d.Resident}
	}
}

// Score implements routing.Scorer.
func (s loraAffinity) Score(v routing.View, hosts []index.HostID, out []float64) {
	adapter := v.Facts().Adapter
	if adapter == "" {
		fill(out, 1)
		return
	}
	replicas := Fleet.Get(v)
	for i, h := range hosts {
		loaded := s.resident != nil && s.resident.Resident(uint16(h), adapter)
		r := replicas.Replica(h)
		out[i] = rateAdapter(adapter, loaded && !r.Departed(), r.Reported())
	}
}

// rateAdapter follows what the engine reports; if it reports no adapters, only what is loaded is known, and no
// replica is full.
func rateAdapter(adapter string, loaded bool, said *fleet.Reported) float64 {
	switch {
	case loaded, said.Runs(adapter):
		return adapterHere
	case !said.HasAdapters, held(said) < said.MaxAdapters:
		return adapterFits
	case said.Queues(adapter):
		return adapterWaiting
	}
	return 0
}

// held counts the distinct adapters that an engine runs or is about to.
func held(said *fleet.Reported) int {
	n := len(said.RunningAdapters)
	for _, a := range said.WaitingAdapters {
		if !said.Runs(a) {
			n++
		}
	}
	return n
}

package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// conductor scores by the rule of Mooncake's conductor without transfers between replicas: the least time to the first
// token, as a replica's queue and its cache foretell it: 1/(1+cost).
//
//	cost = (prompt tokens that wait there + this prompt's uncached tokens) / prefill rate, in seconds
type conductor struct {
	named
	rate float64 // tokens a second, where none is measured
}

// newConductor: assumed_rate (default 8000) is the prompt tokens a second of a replica without a measurement, where no
// other candidate has one either.
func newConductor(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return conductor{named{"conductor", reads(Fleet, PromptTokens, Depths)}, p.Float("assumed_rate", 8000, 1, 1e9)}
	}
}

// Score implements routing.Scorer.
func (s conductor) Score(v routing.View, hosts []index.HostID, out []float64) {
	typical := typicalRate(v, hosts, s.rate)
	for i, h := range hosts {
		p := prefillAt(v, h, typical)
		out[i] = 1 / (1 + (p.queued+p.own)/p.rate)
	}
}

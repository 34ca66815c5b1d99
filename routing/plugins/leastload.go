package plugins

import (
	"slices"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// leastLoad scores 1 − load/highest load, where load is the requests in flight and waiting, plus a penalty while the
// replica is preempting. All get 1 when there is no load at all.
type leastLoad struct {
	named
	penalty float64 // in requests
}

// newLeastLoad: preempting_penalty (default 0.5) is in requests; below 1 it only settles equal queues.
func newLeastLoad(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return &leastLoad{named{"least-load", reads(Fleet)}, p.Float("preempting_penalty", preemptingPenalty, 0, 1e6)}
	}
}

// Score implements routing.Scorer.
func (s *leastLoad) Score(v routing.View, hosts []index.HostID, out []float64) {
	replicas := Fleet.Get(v)
	for i, h := range hosts {
		out[i] = queued(replicas.Replica(h), s.penalty)
	}
	highest := max(slices.Max(out), 1)
	for i, load := range out {
		out[i] = 1 - load/highest
	}
}

// preemptingPenalty is what a preempting replica counts as, in requests, unless a profile says otherwise.
const preemptingPenalty = 0.5

// queued returns the requests in flight and waiting at a replica, with the penalty while it is preempting.
func queued(r *fleet.Replica, penalty float64) float64 {
	requests, preempting := r.Queue()
	if preempting {
		return float64(requests) + penalty
	}
	return float64(requests)
}

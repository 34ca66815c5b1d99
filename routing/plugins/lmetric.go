package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// lmetric scores by LMetric's product, lowest 1, highest 0, all 1 when equal. It has no parameter: a product needs no
// weight between its factors.
//
//	cost = (prompt tokens that wait there + this prompt's uncached tokens) × (requests in flight + 1)
type lmetric struct{ named }

func newLMetric(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return lmetric{named{"lmetric", reads(Fleet, PromptTokens, Depths)}}
	}
}

// Score implements routing.Scorer.
func (lmetric) Score(v routing.View, hosts []index.HostID, out []float64) {
	replicas := Fleet.Get(v)
	for i, h := range hosts {
		p := prefillAt(v, h, 1)
		out[i] = (p.queued + p.own) * float64(replicas.Replica(h).InFlight()+1)
	}
	lowestFirst(out)
}

package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// preempting scores 1/(1 + n), where n requests have to give way at a replica at this moment: its pool is at its end.
type preempting struct{ named }

func newPreempting(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin { return preempting{named{"preempting-penalty", reads(Fleet)}} }
}

// Score implements routing.Scorer.
func (preempting) Score(v routing.View, hosts []index.HostID, out []float64) {
	replicas := Fleet.Get(v)
	for i, h := range hosts {
		out[i] = 1 / float64(1+max(0, replicas.Replica(h).Load().Preempting))
	}
}

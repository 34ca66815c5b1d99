package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// kvUtilization scores the free share of a replica's KV pool.
type kvUtilization struct{ named }

func newKVUtilization(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin { return kvUtilization{named{"kv-utilization", reads(Fleet)}} }
}

// Score implements routing.Scorer.
func (kvUtilization) Score(v routing.View, hosts []index.HostID, out []float64) {
	replicas := Fleet.Get(v)
	for i, h := range hosts {
		out[i] = 1 - min(max(replicas.Replica(h).Load().KVUsage, 0), 1) // engines report over 1 at times
	}
}

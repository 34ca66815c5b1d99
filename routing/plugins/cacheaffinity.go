package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// cacheAffinity scores the share of the prompt's blocks that a replica holds. All get 0 for a prompt without a full block.
type cacheAffinity struct{ named }

func newCacheAffinity(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return cacheAffinity{named{"cache-affinity", reads(BlockHashes, Depths)}}
	}
}

// Score implements routing.Scorer.
func (cacheAffinity) Score(v routing.View, hosts []index.HostID, out []float64) {
	blocks, depths := len(BlockHashes.Get(v)), Depths.Get(v)
	if blocks == 0 {
		return
	}
	for i, h := range hosts {
		out[i] = float64(depths[h]) / float64(blocks)
	}
}

package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// cacheAffinity scores the share of the prompt's blocks that a replica holds; with a length bonus, also how many tokens those
// are. All get 0 for a prompt without a full block.
//
//	length_weight × min(1, held tokens / length_scale)² + (1 − length_weight) × held / blocks
type cacheAffinity struct {
	named
	bonus float64
	scale float64 // tokens
}

// newCacheAffinity: length_weight (default 0) is the bonus for long matches; length_scale (default 8192) is how many tokens earn
// all of it.
func newCacheAffinity(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return cacheAffinity{
			named{"cache-affinity", reads(Fleet, BlockHashes, Depths)},
			p.Float("length_weight", 0, 0, 1), float64(p.Int("length_scale", 8192, 1, 1<<30)),
		}
	}
}

// Score implements routing.Scorer.
func (s cacheAffinity) Score(v routing.View, hosts []index.HostID, out []float64) {
	blocks, depths := len(BlockHashes.Get(v)), Depths.Get(v)
	if blocks == 0 {
		return
	}
	tokens := float64(Fleet.Get(v).BlockSize())
	for i, h := range hosts {
		share := float64(depths[h]) / float64(blocks)
		if s.bonus > 0 {
			length := min(1, float64(depths[h])*tokens/s.scale)
			share = s.bonus*length*length + (1-s.bonus)*share
		}
		out[i] = share
	}
}

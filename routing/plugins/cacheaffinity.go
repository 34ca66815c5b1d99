package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// cacheAffinity scores the share of the prompt's blocks that a replica holds, those in slower tiers for less; with a
// length bonus, also how many tokens those are. All get 0 for a prompt without a full block.
//
//	held = GPU + cpu_weight × CPU + ssd_weight × SSD, in blocks
//	length_weight × min(1, held tokens / length_scale)² + (1 − length_weight) × held / blocks
type cacheAffinity struct {
	named
	worth
	bonus float64
	scale float64 // tokens
}

// newCacheAffinity: length_weight (default 0) is the bonus for long matches; length_scale (default 8192) is how many
// tokens earn all of it; cpu_weight (default 0.75) and ssd_weight (default 0.25) are what a block in that tier is
// worth, of one in the GPU: by tier-depths. Without tier-depths in the profile all tiers are alike.
func newCacheAffinity(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		s := &cacheAffinity{
			named: named{"cache-affinity", reads(Fleet, BlockHashes, Depths)},
			bonus: p.Float("length_weight", 0, 0, 1), scale: float64(p.Int("length_scale", 8192, 1, 1<<30)),
		}
		s.worth = worthOf(p, &s.named)
		return s
	}
}

// Score implements routing.Scorer.
func (s *cacheAffinity) Score(v routing.View, hosts []index.HostID, out []float64) {
	blocks, depths := len(BlockHashes.Get(v)), Depths.Get(v)
	if blocks == 0 {
		return
	}
	tiers := TierDepths.Get(v)
	tokens := float64(Fleet.Get(v).BlockSize())
	for i, h := range hosts {
		held := float64(depths[h])
		if tiers != nil {
			held -= s.lost(tiers, h)
		}
		out[i] = held / float64(blocks)
		if s.bonus > 0 {
			length := min(1, held*tokens/s.scale)
			out[i] = s.bonus*length*length + (1-s.bonus)*out[i]
		}
	}
}

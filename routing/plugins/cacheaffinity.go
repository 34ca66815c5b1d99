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
	bonus    float64
	scale    float64 // tokens
	cpu, ssd float64 // weights
}

// newCacheAffinity: length_weight (default 0) is the bonus for long matches; length_scale (default 8192) is how many
// tokens earn all of it; cpu_weight and ssd_weight (default 1) are what a block in that tier is worth, of one in the
// GPU: with one of them below 1 the profile needs tier-depths.
func newCacheAffinity(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		s := &cacheAffinity{
			named{"cache-affinity", reads(Fleet, BlockHashes, Depths)},
			p.Float("length_weight", 0, 0, 1), float64(p.Int("length_scale", 8192, 1, 1<<30)),
			p.Float("cpu_weight", 1, 0, 1), p.Float("ssd_weight", 1, 0, 1),
		}
		if s.tiered() {
			s.named.reads = append(s.named.reads, TierDepths)
		}
		return s
	}
}

func (s *cacheAffinity) tiered() bool { return s.cpu != 1 || s.ssd != 1 }

// Score implements routing.Scorer.
func (s *cacheAffinity) Score(v routing.View, hosts []index.HostID, out []float64) {
	blocks, depths := len(BlockHashes.Get(v)), Depths.Get(v)
	if blocks == 0 {
		return
	}
	var tiers *InTiers
	if s.tiered() {
		tiers = TierDepths.Get(v)
	}
	tokens := float64(Fleet.Get(v).BlockSize())
	for i, h := range hosts {
		held := float64(depths[h])
		if tiers != nil {
			cpu, ssd := tiers.slower(h)
			held -= (1-s.cpu)*cpu + (1-s.ssd)*ssd
		}
		out[i] = held / float64(blocks)
		if s.bonus > 0 {
			length := min(1, held*tokens/s.scale)
			out[i] = s.bonus*length*length + (1-s.bonus)*out[i]
		}
	}
}

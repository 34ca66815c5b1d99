package plugins

import (
	"context"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/index"
)

// Tiered knows in which tier a replica's blocks lie. Safe for concurrent use.
type Tiered interface {
	// InTiers counts the first depth blocks of chain, up to the first that h does not hold, each in the fastest tier
	// that has it.
	InTiers(h index.HostID, chain []kvpool.BlockHash, depth int) [index.Tiers]int
}

// InTiers says how the blocks of each replica's depth are spread over tiers.
type InTiers struct {
	Blocks [index.MaxHosts][index.Tiers]uint16 // by the fastest tier that has them
}

// slower returns how many of the replica's leading blocks lie outside of the GPU.
func (t *InTiers) slower(h index.HostID) (cpu, ssd float64) {
	return float64(t.Blocks[h][index.CPU]), float64(t.Blocks[h][index.SSD])
}

// tierDepths writes in which tiers each candidate holds its part of the chain. What is believed to be held and not
// found counts as GPU: it was routed there and is computed there. It reads the chain's blocks one by one at every
// candidate that has a slower tier.
type tierDepths struct {
	named
	tiers Tiered
}

func newTierDepths(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		p.Need("an index of tiers", d.Tiers != nil)
		return tierDepths{named{"tier-depths", reads(BlockHashes, Depths)}, d.Tiers}
	}
}

// Writes implements routing.Preparer.
func (tierDepths) Writes() []routing.AnySlot { return reads(TierDepths) }

// Prepare implements routing.Preparer. It never fails.
func (p tierDepths) Prepare(_ context.Context, c *routing.Context) error {
	t := TierDepths.Spare(c)
	if t == nil {
		t = new(InTiers)
	}
	v := c.View()
	chain, depths := BlockHashes.Get(v), Depths.Get(v)
	for h := range v.Candidates().All() {
		t.Blocks[h] = [index.Tiers]uint16{}
		depth := int(depths[h])
		if depth == 0 {
			continue
		}
		t.Blocks[h][index.GPU] = uint16(depth)
		for tier, n := range p.tiers.InTiers(h, chain, depth) {
			if tier != int(index.GPU) {
				t.Blocks[h][tier] = uint16(n)
				t.Blocks[h][index.GPU] -= uint16(n)
			}
		}
	}
	TierDepths.Put(c, t)
	return nil
}

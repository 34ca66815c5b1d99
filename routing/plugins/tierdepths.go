package plugins

import (
	"context"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/index"
)

// maxTierReads is how many blocks tier-depths looks at for one decision: about 50 µs. Where candidates hold more of the
// prompt together, it looks at each second block, each third, and so on.
const maxTierReads = 4096

// Tiered knows in which tier a replica's blocks lie. Safe for concurrent use.
type Tiered interface {
	// InTiers counts the first depth blocks of chain, up to the first that h does not hold, each in the fastest tier
	// that has it. Each every-th block is looked at and stands for those up to the next.
	InTiers(h index.HostID, chain []kvpool.BlockHash, depth, every int) [index.Tiers]int
	// BelowGPU returns the replicas that may hold blocks outside of the GPU.
	BelowGPU() index.HostBitmap
}

// InTiers says how the blocks of each replica's depth are spread over tiers.
type InTiers struct {
	Blocks [index.MaxHosts][index.Tiers]uint16 // by the fastest tier that has them
}

// slower returns how many of the replica's leading blocks lie outside of the GPU. A nil InTiers: none.
func (t *InTiers) slower(h index.HostID) (cpu, ssd float64) {
	if t == nil {
		return 0, 0
	}
	return float64(t.Blocks[h][index.CPU]), float64(t.Blocks[h][index.SSD])
}

// tierDepths writes in which tiers each candidate holds its part of the chain. What is believed to be held and not
// found counts as GPU: it was routed there and is computed there. Where no candidate that holds a part has blocks
// outside of its GPU it writes nothing and costs one load; otherwise it reads blocks one by one, at those candidates.
type tierDepths struct {
	named
	tiers Tiered
}

func newTierDepths(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		p.Need("an index of tiers", d.Tiers != nil)
		return &tierDepths{named{"tier-depths", reads(BlockHashes, Depths)}, d.Tiers}
	}
}

// Writes implements routing.Preparer.
func (*tierDepths) Writes() []routing.AnySlot { return reads(TierDepths) }

// Prepare implements routing.Preparer. It never fails.
func (p *tierDepths) Prepare(_ context.Context, c *routing.Context) error {
	below := p.tiers.BelowGPU()
	if below.Empty() {
		return nil
	}
	v := c.View()
	depths := Depths.Get(v)
	held := 0
	for h := range below.And(v.Candidates()).All() {
		held += int(depths[h])
	}
	if held > 0 {
		p.read(c, below, depths, 1+(held-1)/maxTierReads)
	}
	return nil
}

// read writes the slot. It looks at each every-th block of the candidates of below.
func (p *tierDepths) read(c *routing.Context, below index.HostBitmap, depths *[index.MaxHosts]uint16, every int) {
	t := TierDepths.Spare(c)
	if t == nil {
		t = new(InTiers)
	}
	v := c.View()
	chain := BlockHashes.Get(v)
	for h := range v.Candidates().All() {
		t.Blocks[h] = [index.Tiers]uint16{index.GPU: depths[h]}
		if depths[h] == 0 || !below.Has(h) {
			continue
		}
		held := p.tiers.InTiers(h, chain, int(depths[h]), every)
		for _, tier := range []index.Tier{index.CPU, index.SSD} {
			t.Blocks[h][tier] = uint16(held[tier])
			t.Blocks[h][index.GPU] -= uint16(held[tier])
		}
	}
	TierDepths.Put(c, t)
}

// What a block in a slower tier is worth of one in the GPU, unless a profile says otherwise: part of the time that it
// saves goes into loading it. The values are those of Dynamo's router (host_cache_hit_weight, disk_cache_hit_weight);
// llm-d's gives a CPU copy 0.8.
const (
	cpuWorth = 0.75
	ssdWorth = 0.25
)

// worth is what a block in a slower tier is worth of one in the GPU.
type worth struct{ cpu, ssd float64 }

// worthOf reads cpu_weight (default 0.75) and ssd_weight (default 0.25) and adds TierDepths to n's reads: a profile
// that sets a weight below 1 needs a writer of it.
func worthOf(p *routing.Params, n *named) worth {
	w := worth{p.Float("cpu_weight", cpuWorth, 0, 1), p.Float("ssd_weight", ssdWorth, 0, 1)}
	n.readTiers(p.Given("cpu_weight") && w.cpu < 1 || p.Given("ssd_weight") && w.ssd < 1)
	return w
}

// readTiers adds TierDepths to what n reads.
func (n *named) readTiers(needed bool) {
	if needed {
		n.reads = append(n.reads, TierDepths)
	} else {
		n.reads = append(n.reads, routing.Optional(TierDepths))
	}
}

// lost returns how many of h's blocks are to be taken off its depth, for those that lie outside of the GPU.
func (w worth) lost(t *InTiers, h index.HostID) float64 {
	cpu, ssd := t.slower(h)
	return (1-w.cpu)*cpu + (1-w.ssd)*ssd
}

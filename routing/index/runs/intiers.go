package runs

import (
	"math"

	"octet/kvpool"
	"octet/routing/index"
)

// InTiers implements index.Tiered. It costs one query, and takes no lock, if nothing was ever put outside of h's GPU,
// which is the rule; otherwise it reads h's tier map, block by block.
func (x *Indexer) InTiers(id index.HostID, chain []kvpool.BlockHash, depth, every int) (
	held [index.Tiers]int) {
	if !x.Exists(id) || !x.IsAlive(id) {
		return held
	}
	chain = chain[:max(0, min(depth, len(chain), math.MaxUint16))]
	h := &x.hosts[id]
	if !x.below.Has(id) {
		held[index.GPU] = x.depth(id, chain)
		return held
	}
	x.hints.Add(1)
	h.mu.RLock()
	defer h.mu.RUnlock()
	for n := x.depth(id, chain); ; {
		held = h.spread(chain[:n], every)
		still := x.depth(id, chain) // what is evicted meanwhile does not count
		if still >= n {
			return held
		}
		n = still
	}
}

// depth is Depths of one replica.
func (x *Indexer) depth(id index.HostID, chain []kvpool.BlockHash) int {
	if len(chain) == 0 {
		return 0
	}
	var out [index.MaxHosts]uint16
	var among index.HostBitmap
	among.Set(id)
	x.Depths(chain, among, &out)
	return int(out[id])
}

// BelowGPU implements index.Tiered.
func (x *Indexer) BelowGPU() (none index.HostBitmap) {
	if x.below.Empty() {
		return none
	}
	return x.below.Load().And(x.Alive())
}

// spread counts blocks that h holds by the fastest tier that has them; each every-th stands for those up to the next.
func (h *hostTiers) spread(blocks []kvpool.BlockHash, every int) (held [index.Tiers]int) {
	h.tiersMu.RLock()
	defer h.tiersMu.RUnlock()
	if len(h.elsewhere) == 0 {
		held[index.GPU] = len(blocks)
		return held
	}
	for i := 0; i < len(blocks); i += every {
		held[h.fastest(blocks[i])] += min(every, len(blocks)-i)
	}
	return held
}

package index

import "octet/kvpool"

// Hint appends where replica h holds the first depth blocks of chain, in the fastest tier of each, and stops at the
// first that it does not hold. It reads h's tier map, which no query does: ask for the winner only. Extent is zero
// where the replica gave none.
func (x *ShardedBlockIndexer) Hint(id HostID, chain []kvpool.BlockHash, depth int, dst []Location) []Location {
	h := x.host(id)
	if h == nil || !x.alive.has(id) {
		return dst
	}
	x.hints.Add(1)
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, b := range chain[:max(0, min(depth, len(chain)))] {
		r := h.tiers.blocks[b]
		if r.tiers == 0 {
			break
		}
		tier := r.fastest()
		dst = append(dst, Location{Block: b, Tier: tier, Extent: h.tiers.extents[place{b, tier}]})
	}
	return dst
}

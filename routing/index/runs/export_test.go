package runs

import (
	"math"

	"octet/kvpool"
	"octet/routing/index"
)

// Location is where on a replica a block lies: the fastest tier that holds it.
type Location struct {
	Block kvpool.BlockHash
	Tier  index.Tier
	index.Extent
}

// Hint appends where replica h holds the first depth blocks of chain, in the fastest tier of each, and stops at the
// first that it does not hold. It reads h's tier map, which no query does: ask for the winner only. Extent is zero
// where the replica gave none.
func (x *Indexer) Hint(id index.HostID, chain []kvpool.BlockHash, depth int, dst []Location) []Location {
	if !x.Exists(id) || !x.IsAlive(id) {
		return dst
	}
	x.hints.Add(1)
	h := &x.hosts[id]
	h.mu.RLock()
	defer h.mu.RUnlock()
	chain = chain[:max(0, min(depth, len(chain), math.MaxUint16))]
	from := len(dst)
	dst = h.locations(chain, dst)
	var out [index.MaxHosts]uint16
	x.Depths(chain, index.HostSet(id), &out) // afterwards: what is evicted meanwhile does not count
	return dst[:from+int(out[id])]
}

// locations appends where h has each block of chain, provided that it has it.
func (h *hostTiers) locations(chain []kvpool.BlockHash, dst []Location) []Location {
	h.tiersMu.RLock()
	defer h.tiersMu.RUnlock()
	for _, b := range chain {
		tier := h.fastest(b)
		dst = append(dst, Location{Block: b, Tier: tier, Extent: h.extents[copyOf{b, tier}]})
	}
	return dst
}

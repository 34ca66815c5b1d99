package runs

import (
	"math/bits"

	"octet/kvpool"
	"octet/routing/index"
)

const (
	onGPU tierSet = 1 << index.GPU

	elsewhereBytes = 32 // about what an entry of elsewhere takes
)

// tiers returns the tiers where h has b, which it holds.
func (h *hostTiers) tiers(b kvpool.BlockHash) tierSet {
	if s, ok := h.elsewhere[b]; ok {
		return s
	}
	return onGPU
}

func (h *hostTiers) fastest(b kvpool.BlockHash) index.Tier {
	return index.Tier(bits.TrailingZeros8(uint8(h.tiers(b))))
}

// store carries out a Store.
func (x *Indexer) store(id index.HostID, h *hostTiers, op *index.Op) {
	if op.Tier >= index.Tiers {
		return
	}
	x.tree.beginOp()
	blocks := op.Blocks
	if op.Tier != index.GPU {
		x.storeBelowGPU(id, h, op)
		return
	}
	blocks = blocks[:x.tree.store(id, blocks, op.Parent, op.HasParent, op.HasParent || op.RootKnown)]
	if len(h.elsewhere) > 0 {
		for _, b := range blocks {
			if s, ok := h.elsewhere[b]; ok {
				h.elsewhere[b] = s | onGPU
			}
		}
	}
}

// storeBelowGPU carries out a Store into another tier than the GPU's: which of the blocks are on the GPU has to be
// known first.
func (x *Indexer) storeBelowGPU(id index.HostID, h *hostTiers, op *index.Op) {
	if h.elsewhere == nil {
		h.elsewhere = map[kvpool.BlockHash]tierSet{}
		x.below.Set(id)
	}
	blocks := op.Blocks
	for i, b := range blocks {
		s, known := h.elsewhere[b]
		if !known && !x.tree.chargeHeap(elsewhereBytes, x.tiered) {
			x.tree.refused += uint64(len(blocks) - i)
			blocks = blocks[:i]
			break
		}
		if !known && x.tree.holds(id, b) {
			s = onGPU
		}
		h.elsewhere[b] = s | 1<<op.Tier
	}
	kept := x.tree.store(id, blocks, op.Parent, op.HasParent, op.HasParent || op.RootKnown)
	for _, b := range blocks[kept:] {
		if !x.tree.holds(id, b) {
			h.forget(x.tree.mem, b)
		}
	}
	if x.tree.evictedInOp() {
		x.dropUntold(id, h, blocks)
	}
}

// dropUntold removes those of blocks that h holds, after evictions, without a note of the tier: no later Remove would
// remove them.
func (x *Indexer) dropUntold(id index.HostID, h *hostTiers, blocks []kvpool.BlockHash) {
	h.gone = h.gone[:0]
	for _, b := range blocks {
		if _, ok := h.elsewhere[b]; !ok {
			h.gone = append(h.gone, b)
		}
	}
	x.tree.remove(id, h.gone)
}

// tiered returns the replicas with a tier map. The caller holds the tree's mu.
func (x *Indexer) tiered() (hosts index.HostBitmap) {
	for i := range x.hosts {
		if h := &x.hosts[i]; len(h.elsewhere) > 0 {
			hosts.Set(index.HostID(i))
		}
	}
	return hosts
}

// forgetTiers removes evicted blocks from a replica's tier map. The caller holds the tree's mu, but not the replica's.
func (x *Indexer) forgetTiers(id index.HostID, blocks []kvpool.BlockHash) {
	h := &x.hosts[id]
	if len(h.elsewhere) == 0 {
		return
	}
	h.tiersMu.Lock()
	defer h.tiersMu.Unlock()
	for _, b := range blocks {
		h.forget(x.tree.mem, b)
	}
}

func (h *hostTiers) forget(m *budget, b kvpool.BlockHash) {
	if _, ok := h.elsewhere[b]; ok {
		delete(h.elsewhere, b)
		m.giveBack(elsewhereBytes)
	}
}

// remove carries out a Remove.
func (x *Indexer) remove(id index.HostID, h *hostTiers, op *index.Op) {
	if op.Tier >= index.Tiers {
		return
	}
	x.tree.beginOp()
	blocks := op.Blocks
	if op.Tier != index.GPU || len(h.elsewhere) > 0 {
		blocks = x.lastCopies(h, op)
	}
	x.tree.remove(id, blocks)
}

// lastCopies notes that the blocks of op are no longer in its tier and returns those that are then in none.
func (x *Indexer) lastCopies(h *hostTiers, op *index.Op) []kvpool.BlockHash {
	h.gone = h.gone[:0]
	for _, b := range op.Blocks {
		s, known := h.elsewhere[b]
		switch left := s &^ (1 << op.Tier); {
		case !known && op.Tier == index.GPU, known && left == 0:
			h.forget(x.tree.mem, b)
			h.gone = append(h.gone, b)
		case !known:
		case left == onGPU:
			h.forget(x.tree.mem, b)
		default:
			h.elsewhere[b] = left
		}
	}
	return h.gone
}

// clearTiers empties a replica's tier map. The caller holds the tree's mu.
func (x *Indexer) clearTiers(id index.HostID, h *hostTiers) {
	x.tree.mem.giveBack(int64(len(h.elsewhere)) * elsewhereBytes)
	h.elsewhere = nil
	x.below.Clear(id)
}

// digest is the share of all facts of b, which h holds, in a Digest.
func (h *hostTiers) digest(b kvpool.BlockHash) (sum uint64) {
	for s := h.tiers(b); s != 0; s &= s - 1 {
		sum += index.FactDigest(h.salt, b, index.Tier(bits.TrailingZeros8(uint8(s))))
	}
	return sum
}

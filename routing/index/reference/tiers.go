package reference

import (
	"math/bits"

	"octet/kvpool"
	"octet/routing/index"
)

// origin is what is known of a block's place in its chain.
type origin uint8

const (
	loose origin = iota // nothing
	root                // it begins its chain
	child               // it follows its parent
)

// claim is what a Store says of one block's place.
type claim struct {
	origin origin
	parent kvpool.BlockHash // meaningful when origin is child
}

// residency is one block of one replica.
type residency struct {
	claim
	children uint32 // held blocks that follow this one
	tiers    uint8  // bit t: tier t has a copy; 0: not held, known only as a missing parent
}

// tierMap is what one replica holds, and where. It knows whether the replica's blocks are closed under "what comes
// before": when detached is 0, a held block proves that its whole prefix is held.
type tierMap struct {
	blocks   map[kvpool.BlockHash]residency
	held     int // blocks with a copy
	detached int // held blocks that are loose or whose parent is not held
}

// hold records a copy of b in tier, and returns true if b was not held in any tier before.
func (m *tierMap) hold(b kvpool.BlockHash, tier index.Tier, c claim) bool {
	if m.blocks == nil {
		m.blocks = map[kvpool.BlockHash]residency{}
	}
	r := m.blocks[b]
	arrived := r.tiers == 0
	if arrived {
		m.held++
		m.detached += 1 - int(r.children) // loose until placed; its children have their parent back
	}
	r.tiers |= 1 << tier
	if r.origin == loose && c.origin != loose && (c.origin == root || c.parent != b) { // no block follows itself
		m.place(c)
		r.claim = c
	}
	m.blocks[b] = r
	return arrived
}

// place counts a loose held block as what c says that it is.
func (m *tierMap) place(c claim) {
	if c.origin == root {
		m.detached--
		return
	}
	p := m.blocks[c.parent]
	p.children++
	m.blocks[c.parent] = p
	if p.tiers != 0 {
		m.detached--
	}
}

// drop removes the copy of b in tier, and returns true if it was the last.
func (m *tierMap) drop(b kvpool.BlockHash, tier index.Tier) bool {
	r := m.blocks[b]
	if r.tiers&(1<<tier) == 0 {
		return false
	}
	if r.tiers &^= 1 << tier; r.tiers != 0 {
		m.blocks[b] = r
		return false
	}
	m.held--
	m.detached += int(r.children)
	if m.unplace(r) {
		m.detached--
	}
	m.keep(b, residency{children: r.children})
	return true
}

// unplace removes a block from its parent's count, and returns true if it was detached.
func (m *tierMap) unplace(r residency) bool {
	if r.origin != child {
		return r.origin == loose
	}
	p := m.blocks[r.parent]
	p.children--
	m.keep(r.parent, p)
	return p.tiers == 0
}

// keep stores r unless there is nothing left to know of b.
func (m *tierMap) keep(b kvpool.BlockHash, r residency) {
	if r.tiers == 0 && r.children == 0 {
		delete(m.blocks, b)
		return
	}
	m.blocks[b] = r
}

// fastest returns the fastest tier that has a copy.
func (r residency) fastest() index.Tier { return index.Tier(bits.TrailingZeros8(r.tiers)) }

// InTiers implements index.Tiered. It reads the replica's tier map, block by block.
func (x *ShardedBlockIndexer) InTiers(id index.HostID, chain []kvpool.BlockHash, depth, every int) (
	held [index.Tiers]int) {
	if !x.Exists(id) || !x.IsAlive(id) {
		return held
	}
	x.hints.Add(1)
	h := &x.hosts[id]
	h.mu.RLock()
	defer h.mu.RUnlock()
	fastest := index.GPU
	for i, b := range chain[:max(0, min(depth, len(chain)))] {
		r := h.tiers.blocks[b]
		if r.tiers == 0 {
			break
		}
		if i%every == 0 {
			fastest = r.fastest()
		}
		held[fastest]++
	}
	return held
}

// BelowGPU implements index.Tiered.
func (x *ShardedBlockIndexer) BelowGPU() index.HostBitmap { return x.below.Load().And(x.Alive()) }

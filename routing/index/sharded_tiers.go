package index

import (
	"math/bits"

	"octet/kvpool"
)

// origin is what is known of a block's place in its chain.
type origin uint8

const (
	loose origin = iota // nothing
	root                // it begins its chain
	child               // it follows its parent
)

// residency is one block of one replica.
type residency struct {
	parent   kvpool.BlockHash // meaningful when origin is child
	children uint32           // held blocks that follow this one
	tiers    uint8            // bit t: tier t has a copy; 0: not held, known only as a missing parent
	origin   origin
}

func (r residency) fastest() Tier { return Tier(bits.TrailingZeros8(r.tiers)) }

// place is one copy of a block.
type place struct {
	block kvpool.BlockHash
	tier  Tier
}

// tierMap is what one replica holds, and where. It knows whether the replica's blocks are closed under "what comes
// before": when detached is 0, whoever holds a block holds its whole prefix.
type tierMap struct {
	blocks   map[kvpool.BlockHash]residency
	extents  map[place]Extent // only of copies whose extent was given
	held     int              // blocks with a copy
	detached int              // held blocks that are loose or whose parent is not held
	digest   uint64           // sum of factDigest over all (block, tier)
}

// claim is what a Store says of one block's place.
type claim struct {
	origin origin
	parent kvpool.BlockHash
}

// hold records a copy of b in tier and reports whether b was not held in any tier before. It looks each of b and its
// parent up once.
func (m *tierMap) hold(b kvpool.BlockHash, tier Tier, c claim, salt uint64) bool {
	if m.blocks == nil {
		m.blocks = map[kvpool.BlockHash]residency{}
	}
	r := m.blocks[b]
	if r.tiers&(1<<tier) == 0 {
		m.digest += factDigest(salt, b, tier)
	}
	arrived := r.tiers == 0
	if arrived {
		m.held++
		m.detached += 1 - int(r.children) // loose until placed; its children have their parent back
	}
	r.tiers |= 1 << tier
	if r.origin == loose && c.origin != loose && (c.origin == root || c.parent != b) { // no block follows itself
		m.place(c)
		r.origin, r.parent = c.origin, c.parent
	}
	m.blocks[b] = r
	return arrived
}

// place counts a loose held block as where c says that it is.
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

// drop removes the copy of b in tier and reports whether it was the last.
func (m *tierMap) drop(b kvpool.BlockHash, tier Tier, salt uint64) bool {
	r := m.blocks[b]
	if r.tiers&(1<<tier) == 0 {
		return false
	}
	m.digest -= factDigest(salt, b, tier)
	if len(m.extents) > 0 {
		delete(m.extents, place{b, tier})
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

// unplace takes a block off its parent and reports whether it was detached.
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

// locate says where b's copy in tier lies.
func (m *tierMap) locate(b kvpool.BlockHash, tier Tier, e Extent) {
	if m.extents == nil {
		m.extents = map[place]Extent{}
	}
	m.extents[place{b, tier}] = e
}

// wipe forgets everything and passes each block that was held to gone.
func (m *tierMap) wipe(gone func(kvpool.BlockHash)) {
	for b, r := range m.blocks {
		if r.tiers != 0 {
			gone(b)
		}
	}
	clear(m.blocks)
	clear(m.extents)
	m.held, m.detached, m.digest = 0, 0, 0
}

// factDigest is the share of one fact in Digest: a well mixed function of (host, block, tier).
func factDigest(salt uint64, b kvpool.BlockHash, tier Tier) uint64 {
	z := uint64(b) + salt + uint64(tier)*0xD6E8FEB86659FD93
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

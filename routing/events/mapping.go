package events

import (
	"math"

	"octet/kvpool"
	"octet/routing/index"
)

const (
	// MaxBlocks is how many engine blocks are mapped for one replica, about 150 bytes each. A replica that holds more
	// is reported as full: its further blocks are not in the index, which then knows less than the engine holds and
	// never more.
	MaxBlocks = 1 << 20

	// keepDeparted is how many blocks a replica's mapping remembers after their last copy has gone, so that they can be
	// found again by their engine hash alone: a copy in an offload tier is often announced after the original was
	// evicted.
	keepDeparted = 1024
)

// block is one engine block.
type block struct {
	content
	copies [index.Tiers]uint32 // that the engine holds
	single bool                // copies are at most one in a tier: an answer of the engine's says no more
	doubt  bool                // it was registered with two contents: not claimed until all copies are gone
}

// content is what a block holds.
type content struct {
	// chain[0] is our hash of what comes before the block, chain[1:] are ours of the block itself: one, or several when
	// the engine's blocks are larger. nil: it is not known what the block holds.
	chain []kvpool.BlockHash
	first bool // chain[0] is the root
	loose bool // chain[0] is nothing: it is not known what the block follows
}

// end is our hash that stands for everything up to and with the block.
func (c *content) end() kvpool.BlockHash { return c.chain[len(c.chain)-1] }

// orphan reports whether it is not known what b holds, as nothing of what came told.
func (b *block) orphan() bool { return b.chain == nil && !b.doubt }

func (b *block) gone() bool { return b.copies == [index.Tiers]uint32{} }

// mapping knows one replica's cache in the engine's terms and in ours, and gathers what changes in ours.
//
// ours[h][t] is the number of engine blocks with a copy in tier t that h stands for; the index holds h in t while it is
// not 0.
type mapping struct {
	limit    int
	tally    *tally
	budget   *budget          // what orphans are charged to
	orphans  int              // blocks that orphan says so of
	blocks   map[uint64]block // by engine hash; those that departed recently included
	ours     map[kvpool.BlockHash][index.Tiers]uint32
	departed []uint64           // engine hashes whose last copy went, oldest first; some may be back
	names    map[uint64]content // of blocks whose copies forget has dropped, by engine hash; some may be back
	order    []uint64           // of names, oldest first
	doubts   []kvpool.BlockHash // ours that may be held still, to be told to the index as such; see forget
	forgets  bool               // the index is to be told of doubts with the next change
	unknown  uint64             // evictions from the GPU of blocks without a known copy there, since forget
	full     bool               // a block was ignored for want of room, of blocks or of bytes, since the last wipe
	odd      bool               // blocks came whose size does not fit ours, since the last wipe
	alien    bool               // blocks came that are called otherwise than the scheme calls them, since the last wipe
	grain    uint16             // the most blocks of ours in one of the engine's, since the last wipe; 0 if none came
	ops      []index.Op         // what changed since begin, in order; its memory is used again
}

func newMapping(limit int, t *tally, p *budget) mapping {
	return mapping{limit: limit, tally: t, budget: p, blocks: map[uint64]block{},
		ours: map[kvpool.BlockHash][index.Tiers]uint32{}}
}

// wipe forgets everything, and gives its memory back.
func (m *mapping) wipe() {
	if len(m.blocks) == 0 && !m.full && !m.odd && !m.alien && !m.forgets && m.unknown == 0 && m.names == nil {
		return
	}
	m.tally.blocks.Add(-int64(len(m.blocks)))
	m.budget.give(m.orphans * orphanBytes)
	fresh := newMapping(m.limit, m.tally, m.budget)
	fresh.ops = m.ops
	*m = fresh
}

// begin starts a new list of changes.
func (m *mapping) begin() {
	m.ops = m.ops[:0]
	if m.forgets {
		m.forgets = false
		m.add(index.Forget, 0).Blocks = m.doubts
		m.doubts = nil
	}
}

// change follows one event.
func (m *mapping) change(e *Event, to Target, hasher kvpool.Hasher) {
	switch e.Kind {
	case Registered:
		m.register(e, to, hasher)
	case Evicted:
		for _, h := range e.Hashes {
			m.evict(h, e.Tier)
		}
	case Cleared:
		m.wipe()
		m.add(index.Clear, 0)
	case Shutdown:
		m.wipe()
		m.add(index.Shutdown, 0)
	}
}

// register maps the blocks of e through their tokens. Blocks whose content cannot be told, because the block before
// them is not known or the sizes do not fit, are remembered as such: when they go nothing happens, and nothing can
// follow them.
func (m *mapping) register(e *Event, to Target, hasher kvpool.Hasher) {
	m.verify(e, to.Scheme)
	if to.Salts && e.Saltless && e.Root {
		m.unsaid(e)
		return
	}
	if to.Named {
		m.registerNamed(e, to, hasher)
		return
	}
	before, known := m.before(e, to, hasher)
	tellable := len(e.Tokens) > 0 && to.BlockSize > 0 && e.BlockSize%to.BlockSize == 0
	if len(e.Tokens) > 0 && !tellable {
		m.tally.unmappable.Add(uint64(len(e.Hashes)))
		m.odd = true
	}
	for i, h := range e.Hashes {
		if tellable && known {
			m.registerChain(e, i, before, to, hasher)
			return
		}
		b := m.arrive(h, e.Tier, content{})
		if known = b.chain != nil; known {
			before = b.end()
		} else if len(e.Tokens) == 0 || tellable {
			m.tally.orphans.Add(1)
		}
	}
}

// unsaid remembers blocks of which it is not known by which salt they are kept apart: nothing can follow them.
func (m *mapping) unsaid(e *Event) {
	m.odd = true
	m.tally.unmappable.Add(uint64(len(e.Hashes)))
	for _, h := range e.Hashes {
		m.arrive(h, e.Tier, content{})
	}
}

// before returns our hash of what the first block of e follows, and whether that is known.
func (m *mapping) before(e *Event, to Target, hasher kvpool.Hasher) (kvpool.BlockHash, bool) {
	if e.Root {
		return hasher.Root(to.Specialist, e.Adapter, e.Salt), true
	}
	parent := m.called(e.Parent)
	if parent.chain == nil {
		return 0, false
	}
	return parent.end(), true
}

// registerChain maps the blocks of e from the i-th on, which follows before.
func (m *mapping) registerChain(e *Event, i int, before kvpool.BlockHash, to Target, hasher kvpool.Hasher) {
	each := e.BlockSize / to.BlockSize // blocks of ours in one of the engine's
	m.grain = max(m.grain, uint16(min(each, math.MaxUint16)))
	chain := make([]kvpool.BlockHash, 1, 1+each*(len(e.Hashes)-i))
	chain[0] = before
	chain = hasher.Chain(chain, before, e.Tokens[i*e.BlockSize:], to.BlockSize)
	for j, h := range e.Hashes[i:] {
		from, end := j*each, (j+1)*each+1
		m.arrive(h, e.Tier, content{chain: chain[from:end:end], first: e.Root && i+j == 0})
	}
}

// arrive counts one more copy of an engine block in tier. It returns the block as it is now; the zero block when there
// was no room for it.
func (m *mapping) arrive(hash uint64, tier index.Tier, c content) block {
	b, ok := m.blocks[hash]
	if !ok {
		b.content = m.names[hash]
	}
	if !ok && (!m.room() || c.chain == nil && b.chain == nil && !m.adopt()) {
		m.full = true
		m.tally.ignored.Add(1)
		return block{}
	}
	if c.chain != nil {
		m.release(ok && b.orphan())
		m.learn(&b, c)
	}
	if b.single = b.single && !b.gone(); !b.single || b.copies[tier] == 0 {
		b.copies[tier]++
		if b.copies[tier] == 1 && b.chain != nil {
			m.claim(&b, tier)
		}
	}
	m.put(hash, b, ok)
	return b
}

func (m *mapping) put(hash uint64, b block, known bool) {
	m.blocks[hash] = b
	if !known {
		delete(m.names, hash)
		m.tally.blocks.Add(1)
	}
}

// learn notes what b holds. When it was something else that is still there, nothing can be said of b any more: one
// name, two contents.
func (m *mapping) learn(b *block, c content) {
	switch {
	case b.chain != nil && b.end() == c.end():
		if b.loose {
			b.content = c
		}
	case b.gone():
		b.content = c
	case b.doubt:
	case b.chain == nil:
		b.content = c
		m.claimAll(b)
	default:
		m.tally.conflicts.Add(1)
		m.disclaimAll(b)
		b.chain, b.doubt = nil, true
	}
}

// room makes sure that one more block may be mapped.
func (m *mapping) room() bool {
	for len(m.blocks)+len(m.names) >= m.limit && len(m.departed)+len(m.order) > 0 {
		m.bury()
	}
	return len(m.blocks) < m.limit
}

// evict counts one copy less.
func (m *mapping) evict(hash uint64, tier index.Tier) {
	b, ok := m.blocks[hash]
	if !ok || b.copies[tier] == 0 {
		m.tally.strangers.Add(1)
		if tier == index.GPU {
			m.unknown++
		}
		return
	}
	b.copies[tier]--
	if b.copies[tier] == 0 && b.chain != nil {
		m.disclaim(&b, tier)
	}
	if b.gone() && b.chain == nil {
		m.remove(hash)
		return
	}
	m.blocks[hash] = b
	if b.gone() {
		m.depart(hash)
	}
}

// depart remembers a block without copies for a while.
func (m *mapping) depart(hash uint64) {
	m.departed = append(m.departed, hash)
	if len(m.departed) > keepDeparted {
		m.bury()
	}
}

func (m *mapping) remove(hash uint64) {
	b := m.blocks[hash]
	m.release(b.orphan())
	delete(m.blocks, hash)
	m.tally.blocks.Add(-1)
}

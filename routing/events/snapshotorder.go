package events

import (
	"slices"

	"octet/kvpool"
)

// each passes on all blocks: those with a copy, each chain from its beginning, so that it can be taken over as one run;
// and then those that departed, oldest first.
func (m *mapping) each(visit func(hash uint64, b *block)) {
	next, open := m.links()
	for len(open) > 0 {
		hash := open[len(open)-1]
		open = open[:len(open)-1]
		b := m.blocks[hash]
		visit(hash, &b)
		if b.chain != nil {
			open = append(open, next[b.end()]...)
			delete(next, b.end())
		}
	}
	for _, rest := range next { // what claims to follow itself, in any order
		for _, hash := range rest {
			b := m.blocks[hash]
			visit(hash, &b)
		}
	}
	for _, hash := range m.departed {
		if b, ok := m.blocks[hash]; ok && b.gone() {
			visit(hash, &b)
		}
	}
}

// links returns, by our hash, the blocks with a copy that go on from there, and those that begin a chain or whose
// beginning is not here.
func (m *mapping) links() (next map[kvpool.BlockHash][]uint64, begin []uint64) {
	ends := make(map[kvpool.BlockHash]bool, len(m.blocks))
	for _, b := range m.blocks {
		if !b.gone() && b.chain != nil {
			ends[b.end()] = true
		}
	}
	next = make(map[kvpool.BlockHash][]uint64, len(m.blocks))
	for hash, b := range m.blocks {
		switch {
		case b.gone():
		case b.chain == nil || b.first || b.loose || !ends[b.chain[0]]:
			begin = append(begin, hash)
		default:
			next[b.chain[0]] = append(next[b.chain[0]], hash)
		}
	}
	slices.Sort(begin)
	for _, open := range next {
		slices.Sort(open)
	}
	return next, begin
}

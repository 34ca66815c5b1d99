package events

import (
	"octet/kvpool"
	"octet/routing/index"
)

// claim tells the index that b is in tier now. What it holds there already is told again only inside a run, where it
// changes nothing.
func (m *mapping) claim(b *block, tier index.Tier) {
	fresh := false
	for _, h := range b.chain[1:] {
		n := m.ours[h]
		n[tier]++
		m.ours[h] = n
		fresh = fresh || n[tier] == 1
	}
	if fresh {
		m.store(b, tier)
	}
}

// claimAll tells the index of all tiers that have a copy of b.
func (m *mapping) claimAll(b *block) {
	for t, n := range b.copies {
		if n > 0 {
			m.claim(b, index.Tier(t))
		}
	}
}

// disclaim tells the index that b is not in tier any more, but for what other blocks still stand for.
func (m *mapping) disclaim(b *block, tier index.Tier) {
	for _, h := range b.chain[1:] {
		n := m.ours[h]
		n[tier]--
		if n == ([index.Tiers]uint32{}) {
			delete(m.ours, h)
		} else {
			m.ours[h] = n
		}
		if n[tier] == 0 {
			op := m.run(index.Remove, tier)
			op.Blocks = append(op.Blocks, h)
		}
	}
}

// disclaimAll takes back all that b stands for.
func (m *mapping) disclaimAll(b *block) {
	for t, n := range b.copies {
		if n > 0 {
			m.disclaim(b, index.Tier(t))
		}
	}
}

// store adds b to the changes: to the run before it when b goes on with that, else as a run of its own.
func (m *mapping) store(b *block, tier index.Tier) {
	before := b.chain[0]
	if n := len(m.ops); n > 0 && !b.first && !b.loose {
		if op := &m.ops[n-1]; op.Kind == index.Store && op.Tier == tier && (op.RootKnown || op.HasParent) &&
			endsIn(op.Blocks, before) {
			op.Blocks = append(op.Blocks, b.chain[1:]...)
			return
		}
	}
	op := m.add(index.Store, tier)
	op.RootKnown, op.HasParent = b.first, !b.first && !b.loose
	if op.HasParent {
		op.Parent = before
	}
	op.Blocks = append(op.Blocks, b.chain[1:]...)
}

func endsIn(blocks []kvpool.BlockHash, last kvpool.BlockHash) bool {
	return len(blocks) > 0 && blocks[len(blocks)-1] == last
}

// run returns the last change when it is of that kind and tier, else a new one.
func (m *mapping) run(kind index.OpKind, tier index.Tier) *index.Op {
	if n := len(m.ops); n > 0 && m.ops[n-1].Kind == kind && m.ops[n-1].Tier == tier {
		return &m.ops[n-1]
	}
	return m.add(kind, tier)
}

// add appends an empty change. It takes over the memory of the one that stood there before.
func (m *mapping) add(kind index.OpKind, tier index.Tier) *index.Op {
	n := len(m.ops)
	if n < cap(m.ops) {
		m.ops = m.ops[:n+1]
	} else {
		m.ops = append(m.ops, index.Op{})
	}
	m.ops[n] = index.Op{Kind: kind, Tier: tier, Blocks: m.ops[n].Blocks[:0]}
	return &m.ops[n]
}

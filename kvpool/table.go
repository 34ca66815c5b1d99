package kvpool

import (
	"fmt"
	"slices"
)

// Table is one sequence's block table: entry i holds tokens i·BlockSize … (i+1)·BlockSize-1. The zero Table is empty.
// It belongs to one pool; its capacity is kept when it is emptied. Of a run it lists all blocks, one after the other, or none.
type Table struct {
	blocks []BlockID
}

// Blocks returns the physical blocks in order. Read-only, valid until the table changes.
func (t *Table) Blocks() []BlockID { return t.blocks }

// Len returns the number of blocks.
func (t *Table) Len() int { return len(t.blocks) }

// Room is how many blocks t can have without more memory.
func (t *Table) Room() int { return cap(t.blocks) }

// Reserve makes room in the table itself for n blocks, so that Extend to n does not allocate. It takes no block.
func (t *Table) Reserve(n int) {
	if n > cap(t.blocks) {
		t.blocks = slices.Grow(t.blocks, n-len(t.blocks))
	}
}

// Share fills an empty t with the leading blocks of chain that are cached, without a copy, and returns how many.
func (p *Pool) Share(t *Table, chain []BlockHash) int {
	if len(t.blocks) != 0 {
		panic(fmt.Sprintf("kvpool: sharing a prefix into a table of %d blocks", len(t.blocks)))
	}
	t.Reserve(len(chain))
	before := runID(0)
	for len(t.blocks) < len(chain) {
		s := p.stretch(chain[len(t.blocks):], before)
		if s.n == 0 {
			break
		}
		one := p.hold(p.part(s))
		p.runs.all[before].follow, before = s.run, s.run
		t.blocks = append(t.blocks, one.ids[:s.n]...)
	}
	return len(t.blocks)
}

// Extend makes t at least n blocks long with fresh blocks, evicting idle content where needed. All or nothing:
// false leaves t as it was.
func (p *Pool) Extend(t *Table, n int) bool {
	had := len(t.blocks)
	if n-had > p.Free() {
		return false
	}
	if n > had {
		t.Reserve(n)
		t.blocks = t.blocks[:n]
		p.take(t.blocks[had:])
	}
	return true
}

// Seal names the content of t's block i, which is full and computed, so that others can share it.
// It reports whether the content is new to the cache: where another block already holds it, t's stays private.
func (p *Pool) Seal(t *Table, i int, h BlockHash) bool {
	id := t.blocks[i]
	b := &p.blocks[id]
	if b.run > private && b.hash != h {
		panic(fmt.Sprintf("kvpool: sealing block %d as %#x, but it holds %#x", id, uint64(h), uint64(b.hash)))
	}
	if !p.prefix.add(h, id) {
		return false
	}
	b.hash = h
	if i == 0 || !p.join(b, &p.blocks[t.blocks[i-1]], id) {
		p.begin(b, id)
	}
	return true
}

// join puts b, block id, at the end of the run that ends with prev, the block before it in its table: where there is one, no other
// table lists it, and it has room.
func (p *Pool) join(b, prev *block, id BlockID) bool {
	if prev.run <= private || prev.at >= runBlocks-1 {
		return false
	}
	one := &p.runs.all[prev.run]
	if one.refs > 1 {
		return false
	}
	b.run, b.at = prev.run, prev.at+1
	one.ids[b.at], one.size, one.last = id, b.at+1, b.hash
	return true
}

// begin makes b, block id, a run of its own.
func (p *Pool) begin(b *block, id BlockID) {
	b.run, b.at = p.runs.add(1), 0
	one := &p.runs.all[b.run]
	one.ids[0], one.size, one.last = id, 1, b.hash
}

// Trim shortens t to at most n blocks and releases the rest, last first.
func (p *Pool) Trim(t *Table, n int) {
	if n >= len(t.blocks) {
		return
	}
	if b := p.blocks[t.blocks[n]]; n > 0 && b.run > private && b.at > 0 {
		p.split(b.run, int(b.at))
	}
	p.give(t.blocks[n:])
	t.blocks = t.blocks[:n]
}

// Release empties t. Its content stays cached until the blocks are needed, the end of the sequence going first.
func (p *Pool) Release(t *Table) { p.Trim(t, 0) }

package kvpool

import (
	"fmt"
	"slices"
)

// Table is one sequence's block table: entry i holds tokens i·BlockSize … (i+1)·BlockSize-1. The zero Table is empty.
// It belongs to one pool; its capacity is kept when it is emptied.
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
func (t *Table) Reserve(n int) { t.blocks = slices.Grow(t.blocks, max(0, n-len(t.blocks))) }

// Share fills an empty t with the leading blocks of chain that are cached, without a copy, and returns how many.
func (p *Pool) Share(t *Table, chain []BlockHash) int {
	if len(t.blocks) != 0 {
		panic(fmt.Sprintf("kvpool: sharing a prefix into a table of %d blocks", len(t.blocks)))
	}
	t.Reserve(len(chain))
	w := walk{step: 1}
	for _, h := range chain {
		if !p.next(&w, h) {
			break
		}
		p.hold(w.at)
		t.blocks = append(t.blocks, w.at)
	}
	return len(t.blocks)
}

// Extend makes t at least n blocks long with fresh blocks, evicting idle content where needed. All or nothing:
// false leaves t as it was.
func (p *Pool) Extend(t *Table, n int) bool {
	if n-len(t.blocks) > p.free {
		return false
	}
	t.Reserve(n)
	for len(t.blocks) < n {
		t.blocks = append(t.blocks, p.take())
	}
	return true
}

// Seal names the content of t's block i, which is full and computed, so that others can share it.
// It reports whether the content is new to the cache: where another block already holds it, t's stays private.
func (p *Pool) Seal(t *Table, i int, h BlockHash) bool {
	id := t.blocks[i]
	b := &p.blocks[id]
	if b.cached && b.hash != h {
		panic(fmt.Sprintf("kvpool: sealing block %d as %#x, but it holds %#x", id, uint64(h), uint64(b.hash)))
	}
	if !p.prefix.add(h, id) {
		return false
	}
	b.hash, b.cached = h, true
	return true
}

// Trim shortens t to at most n blocks and releases the rest, last first.
func (p *Pool) Trim(t *Table, n int) {
	if n < len(t.blocks) {
		p.drop(t.blocks[n:])
		t.blocks = t.blocks[:n]
	}
}

// Release empties t. Its content stays cached until the blocks are needed, the end of the sequence going first.
func (p *Pool) Release(t *Table) { p.Trim(t, 0) }

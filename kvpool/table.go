package kvpool

import (
	"fmt"
	"slices"

	"octet/internal/poison"
)

// Table is one sequence's block table: entry i holds tokens i·BlockSize … (i+1)·BlockSize-1. The zero Table is
// empty. It belongs to one pool; its capacity is kept when it is emptied. Of a run it lists all blocks, one after the
// other, or none.
//
// The blocks that it begins with are written down only when somebody asks for them: until then they are spans.
type Table struct {
	blocks  []BlockID // those below covered are not written
	spans   []span    // blocks[:covered], in order
	covered int
	pool    *Pool // of the spans
}

// span is the blocks from the first one of a run on that a table came to list as one. Parts of them may be runs of
// their own by now: each is the rest of the one before.
type span struct {
	run runID
	n   int32 // blocks
}

// Blocks returns the physical blocks in order. Read-only, valid until the table changes.
func (t *Table) Blocks() []BlockID {
	t.write()
	return t.blocks
}

// write writes down the blocks that are spans so far.
func (t *Table) write() {
	if t.covered > 0 {
		t.list(t.blocks)
		t.spans, t.covered = t.spans[:0], 0
	}
}

// list sets the beginning of blocks to those of the spans.
func (t *Table) list(blocks []BlockID) {
	for _, s := range t.spans {
		for left := int(s.n); left > 0; {
			n := copy(blocks, t.pool.runs.blocks(s.run))
			if blocks, left = blocks[n:], left-n; left > 0 {
				s.run = t.pool.runs.behind(s.run)
			}
		}
	}
}

// cover adds n blocks of a run to what is covered.
func (t *Table) cover(id runID, n int) {
	t.spans = append(t.spans, span{id, int32(n)})
	t.covered += n
}

// last returns the run of the last covered block. There must be one.
func (t *Table) last() runID {
	s := t.spans[len(t.spans)-1]
	for {
		if s.n -= t.pool.runs.all[s.run].size; s.n <= 0 {
			return s.run
		}
		s.run = t.pool.runs.behind(s.run)
	}
}

// Len returns the number of blocks.
func (t *Table) Len() int { return len(t.blocks) }

// Room is how many blocks t can have without more memory.
func (t *Table) Room() int { return cap(t.blocks) }

// Poison overwrites the memory of an empty t, where that is built in.
func (t *Table) Poison() {
	poison.Words(t.blocks[:0])
	poison.Values(t.spans[:0])
}

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
	t.pool = p
	before := runID(0)
	for t.covered < len(chain) {
		s := p.stretch(chain[t.covered:], before)
		if s.n == 0 {
			break
		}
		id := p.part(s)
		p.hold(id)
		t.cover(id, s.n)
		p.runs.all[before].follow, before = id, id
	}
	t.blocks = t.blocks[:t.covered]
	return t.covered
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
	if i < t.covered {
		t.write()
	}
	id := t.blocks[i]
	b := &p.blocks[id]
	if b.run > private && b.hash != h {
		panic(fmt.Sprintf("kvpool: sealing block %d as %#x, but it holds %#x", id, uint64(h), uint64(b.hash)))
	}
	if !p.prefix.add(h, id) {
		return false
	}
	b.hash = h
	if i == t.covered {
		p.sealCovered(t, b, id)
	} else if before := p.blocks[t.blocks[i-1]].run; before <= private || !p.join(b, before, id) {
		p.begin(b, id)
	}
	return true
}

// sealCovered makes a run, or the end of one, of b, block id, the first one of t that is not covered, and covers it.
func (p *Pool) sealCovered(t *Table, b *block, id BlockID) {
	if n := len(t.spans); n > 0 {
		s := &t.spans[n-1]
		last := s.run
		if p.runs.all[last].size < s.n {
			last = t.last()
		}
		if p.join(b, last, id) {
			s.n++
			t.covered++
			return
		}
	}
	t.pool = p
	p.begin(b, id)
	t.cover(b.run, 1)
}

// join puts b, block id, at the end of a run, that of the block before it in its table: where no other table lists it,
// and it has room.
func (p *Pool) join(b *block, to runID, id BlockID) bool {
	one := &p.runs.all[to]
	if one.refs > 1 || one.size >= runBlocks {
		return false
	}
	b.run, b.at = to, one.size
	p.runs.ids[to][b.at] = id
	one.size, one.last = b.at+1, b.hash
	return true
}

// begin makes b, block id, a run of its own.
func (p *Pool) begin(b *block, id BlockID) {
	b.run, b.at = p.runs.add(1), 0
	p.runs.ids[b.run][0] = id
	one := &p.runs.all[b.run]
	one.size, one.last = 1, b.hash
}

// Trim shortens t to at most n blocks and releases the rest, last first.
func (p *Pool) Trim(t *Table, n int) {
	if n >= len(t.blocks) {
		return
	}
	if n > 0 {
		t.write()
		if b := p.blocks[t.blocks[n]]; b.run > private && b.at > 0 {
			p.split(b.run, int(b.at))
		}
	}
	p.give(t.blocks[max(n, t.covered):])
	for _, s := range slices.Backward(t.spans) {
		p.dropSpan(s)
	}
	t.blocks, t.spans, t.covered = t.blocks[:n], t.spans[:0], 0
}

// dropSpan takes a reference back from a span, last first.
func (p *Pool) dropSpan(s span) {
	if left := s.n - p.runs.all[s.run].size; left > 0 {
		p.dropSpan(span{p.runs.behind(s.run), left})
	}
	p.drop(s.run)
}

// Release empties t. Its content stays cached until the blocks are needed, the end of the sequence going first.
func (p *Pool) Release(t *Table) { p.Trim(t, 0) }

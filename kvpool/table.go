package kvpool

import (
	"fmt"
	"slices"

	"octet/internal/poison"
)

// Table is one sequence's block table: entry i holds tokens i·BlockSize … (i+1)·BlockSize-1. The zero Table is empty.
// It belongs to one pool; its capacity is kept when it is emptied. It lists a run whole, its blocks one after the
// other, or not at all.
//
// The blocks at its beginning are written lazily: until something asks for them, runs names the runs that they are.
type Table struct {
	blocks   []BlockID // those below deferred are not written
	runs     []runRef  // are blocks[:deferred], in order
	deferred int
	pool     *Pool // of runs
}

// runRef names n blocks: those of a run and of what was cut off its end later (see tailOf), as the table came to list
// them as one.
type runRef struct {
	run runID
	n   int32 // blocks
}

// Blocks returns the physical blocks in order. Read-only, valid until the table changes.
func (t *Table) Blocks() []BlockID {
	t.materialize()
	return t.blocks
}

// materialize writes the deferred blocks.
func (t *Table) materialize() {
	if t.deferred > 0 {
		t.copyTo(t.blocks)
		t.runs, t.deferred = t.runs[:0], 0
	}
}

// copyTo sets the beginning of blocks to the deferred ones.
func (t *Table) copyTo(blocks []BlockID) {
	for _, s := range t.runs {
		for left := int(s.n); left > 0; {
			n := copy(blocks, t.pool.runs.blocks(s.run))
			if blocks, left = blocks[n:], left-n; left > 0 {
				s.run = t.pool.runs.tailOf(s.run)
			}
		}
	}
}

// appendRun defers n blocks of a run.
func (t *Table) appendRun(id runID, n int) {
	t.runs = append(t.runs, runRef{id, int32(n)})
	t.deferred += n
}

// lastRun returns the run of the last deferred block. There must be one.
func (t *Table) lastRun() runID {
	s := t.runs[len(t.runs)-1]
	for {
		if s.n -= t.pool.runs.all[s.run].size; s.n <= 0 {
			return s.run
		}
		s.run = t.pool.runs.tailOf(s.run)
	}
}

// Len returns the number of blocks.
func (t *Table) Len() int { return len(t.blocks) }

// Room is how many blocks t can have without more memory.
func (t *Table) Room() int { return cap(t.blocks) }

// Poison overwrites the memory of an empty t, in builds that poison memory.
func (t *Table) Poison() {
	poison.Words(t.blocks[:0])
	poison.Values(t.runs[:0])
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
	for t.deferred < len(chain) {
		s := p.matchRun(chain[t.deferred:], before)
		if s.n == 0 {
			break
		}
		id := p.isolate(s)
		p.addRef(id)
		t.appendRun(id, s.n)
		p.runs.all[before].successor, before = id, id
	}
	t.blocks = t.blocks[:t.deferred]
	return t.deferred
}

// Extend makes t at least n blocks long with fresh blocks, evicting idle content if necessary. All or nothing: false
// leaves t as it was.
func (p *Pool) Extend(t *Table, n int) bool {
	had := len(t.blocks)
	if n-had > p.Free() {
		return false
	}
	if n > had {
		t.Reserve(n)
		t.blocks = t.blocks[:n]
		p.allocate(t.blocks[had:])
	}
	return true
}

// Seal names the content of t's block i, which is full and computed, so that other tables can share it. It returns true
// if the content is new to the cache. If another block already holds it, t's stays private.
func (p *Pool) Seal(t *Table, i int, h BlockHash) bool {
	if i < t.deferred {
		t.materialize()
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
	if i == t.deferred {
		p.sealNext(t, b, id)
	} else if before := p.blocks[t.blocks[i-1]].run; before <= private || !p.appendTo(b, before, id) {
		p.newRun(b, id)
	}
	return true
}

// sealNext appends block id, the first one of t that is not deferred, to the run before it, or makes it a run, and
// defers it.
func (p *Pool) sealNext(t *Table, b *block, id BlockID) {
	if n := len(t.runs); n > 0 {
		s := &t.runs[n-1]
		last := s.run
		if p.runs.all[last].size < s.n {
			last = t.lastRun()
		}
		if p.appendTo(b, last, id) {
			s.n++
			t.deferred++
			return
		}
	}
	t.pool = p
	p.newRun(b, id)
	t.appendRun(b.run, 1)
}

// appendTo appends block id to a run, that of the block before it in its table, if no other table lists the run and it
// has room.
func (p *Pool) appendTo(b *block, to runID, id BlockID) bool {
	one := &p.runs.all[to]
	if one.refs > 1 || one.size >= runBlocks {
		return false
	}
	b.run, b.at = to, one.size
	p.runs.ids[to][b.at] = id
	one.size, one.last = b.at+1, b.hash
	return true
}

// newRun makes block id a run of its own.
func (p *Pool) newRun(b *block, id BlockID) {
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
		t.materialize()
		if b := p.blocks[t.blocks[n]]; b.run > private && b.at > 0 {
			p.split(b.run, int(b.at))
		}
	}
	p.release(t.blocks[max(n, t.deferred):])
	for _, s := range slices.Backward(t.runs) {
		p.dropRun(s)
	}
	t.blocks, t.runs, t.deferred = t.blocks[:n], t.runs[:0], 0
}

// dropRun removes a reference from the runs of s, last first.
func (p *Pool) dropRun(s runRef) {
	if left := s.n - p.runs.all[s.run].size; left > 0 {
		p.dropRun(runRef{p.runs.tailOf(s.run), left})
	}
	p.dropRef(s.run)
}

// Release empties t. Its content stays cached until the blocks are needed, the end of the sequence going first.
func (p *Pool) Release(t *Table) { p.Trim(t, 0) }

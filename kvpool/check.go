package kvpool

import (
	"errors"
	"fmt"
	"iter"
)

// ErrCorrupt is wrapped by everything that Check and CheckTables find.
var ErrCorrupt = errors.New("kvpool: corrupt")

// Check proves invariants 1, 2, 4 and 5 of the package in one pass over all blocks. For tests and diagnosis.
func (p *Pool) Check() error {
	if err := p.checkFreeList(); err != nil {
		return err
	}
	idle, cached := 0, 0
	for id := range BlockID(p.Total()) {
		b := &p.blocks[id]
		if b.refs < 0 {
			return fmt.Errorf("%w: block %d has %d references", ErrCorrupt, id, b.refs)
		}
		if shared := p.shared[id>>6]>>(id&63)&1 == 1; shared != (b.refs > 1) {
			return fmt.Errorf("%w: block %d has %d references, shared: %t", ErrCorrupt, id, b.refs, shared)
		}
		if b.refs == 0 {
			idle++
		}
		if b.cached {
			cached++
			if named, ok := p.prefix.find(b.hash); !ok || named != id {
				return fmt.Errorf("%w: block %d holds %#x, which the map says is at %d (%t)", ErrCorrupt, id, uint64(b.hash), named, ok)
			}
		}
	}
	if idle != p.free {
		return fmt.Errorf("%w: %d blocks without references, %d on the free list", ErrCorrupt, idle, p.free)
	}
	if cached != p.prefix.used {
		return fmt.Errorf("%w: %d blocks with content, %d in the map", ErrCorrupt, cached, p.prefix.used)
	}
	return nil
}

func (p *Pool) checkFreeList() error {
	end, seen, content := p.sentinel(), 0, false
	for prev, id := end, p.blocks[end].next; id != end; prev, id = id, p.blocks[id].next {
		b := &p.blocks[id]
		if seen++; seen > p.Total() {
			return fmt.Errorf("%w: the free list is a loop", ErrCorrupt)
		}
		if b.prev != prev || b.refs != 0 {
			return fmt.Errorf("%w: free block %d has %d references and follows %d, not %d", ErrCorrupt, id, b.refs, b.prev, prev)
		}
		if content && !b.cached {
			return fmt.Errorf("%w: empty block %d is behind cached ones on the free list", ErrCorrupt, id)
		}
		content = b.cached
	}
	if seen != p.free {
		return fmt.Errorf("%w: %d blocks on the free list, counted %d", ErrCorrupt, seen, p.free)
	}
	return nil
}

// CheckTables is Check, and proves invariant 3: tables are all the tables there are.
func (p *Pool) CheckTables(tables iter.Seq[*Table]) error {
	if err := p.Check(); err != nil {
		return err
	}
	held := make([]int32, p.Total())
	for t := range tables {
		for _, id := range t.blocks {
			held[id]++
		}
	}
	for id, n := range held {
		if refs := p.blocks[id].refs; refs != n {
			return fmt.Errorf("%w: block %d has %d references, but %d tables list it", ErrCorrupt, id, refs, n)
		}
	}
	return nil
}

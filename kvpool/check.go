package kvpool

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// ErrCorrupt is wrapped by everything that Check and CheckTables find.
var ErrCorrupt = errors.New("kvpool: corrupt")

// Check proves invariants 1, 2, 4, 5 and 6 of the package in one pass over all blocks. For tests and diagnosis.
func (p *Pool) Check() error {
	if err := p.checkIdle(); err != nil {
		return err
	}
	used, cached := 0, 0
	for id, b := range p.blocks {
		switch {
		case b.run == private:
			used++
		case b.run > private:
			one := &p.runs.all[b.run]
			if cached++; one.refs > 0 {
				used++
			}
			if b.at >= one.size || p.runs.ids[b.run][b.at] != BlockID(id) || one.imagined != 0 ||
				b.at == one.size-1 && one.last != b.hash {
				return fmt.Errorf("%w: block %d is not at %d of run %d: %+v", ErrCorrupt, id, b.at, b.run, *one)
			}
			if named, ok := p.prefix.find(b.hash); !ok || named != BlockID(id) {
				return fmt.Errorf("%w: block %d holds %#x, which the map says is at %d (%t)", ErrCorrupt, id,
					uint64(b.hash), named, ok)
			}
		}
	}
	if used != p.Used() || cached != p.prefix.used {
		return fmt.Errorf("%w: %d blocks in use and %d with content, counted %d and %d", ErrCorrupt, used, cached,
			p.Used(), p.prefix.used)
	}
	return p.checkRuns(cached)
}

// checkIdle proves invariant 6, and that empty blocks are in no run.
func (p *Pool) checkIdle() error {
	for _, id := range p.empty {
		if p.blocks[id].run != free {
			return fmt.Errorf("%w: block %d is empty, and in run %d", ErrCorrupt, id, p.blocks[id].run)
		}
	}
	idle, prev := 0, runID(0)
	for at := p.runs.all[0].next; at != 0; at = p.runs.all[at].next {
		one := &p.runs.all[at]
		if one.prev != prev || one.refs != 0 || one.size < 1 {
			return fmt.Errorf("%w: run %d, behind %d of the idle, is %+v", ErrCorrupt, at, prev, *one)
		}
		if idle += int(one.size); idle > p.Total() {
			return fmt.Errorf("%w: the idle runs are a loop", ErrCorrupt)
		}
		prev = at
	}
	if idle != p.runs.idleBlocks || prev != p.runs.all[0].prev {
		return fmt.Errorf("%w: %d blocks are idle, counted %d; the last run is %d, and not %d", ErrCorrupt, idle,
			p.runs.idleBlocks, prev, p.runs.all[0].prev)
	}
	return nil
}

// checkRuns proves that the runs are of so many blocks, and that none was lost.
func (p *Pool) checkRuns(cached int) error {
	sum, unused, idle := 0, 0, 0
	for at := p.runs.freeRuns; at != 0 && unused < len(p.runs.all); at = p.runs.all[at].next {
		unused++
	}
	for _, one := range p.runs.all[1:] {
		if sum += int(one.size); one.size == 0 {
			unused--
		} else if one.refs == 0 {
			idle += int(one.size)
		}
	}
	if sum != cached || unused != 0 || idle != p.runs.idleBlocks {
		return fmt.Errorf("%w: runs of %d blocks, %d of them idle, counted %d and %d; %d unused runs too many",
			ErrCorrupt, sum, idle, cached, p.runs.idleBlocks, unused)
	}
	return nil
}

// CheckTables is Check, and proves invariant 3: tables are all the tables there are.
func (p *Pool) CheckTables(tables iter.Seq[*Table]) error {
	if err := p.Check(); err != nil {
		return err
	}
	held := make([]int, p.Total())
	for t := range tables {
		blocks := slices.Clone(t.blocks) // t stays as it is
		t.copyTo(blocks)
		for i := 0; i < len(blocks); {
			id := p.blocks[blocks[i]].run
			n := 1
			if id > private {
				n = int(p.runs.all[id].size)
				if i+n > len(blocks) || !slices.Equal(blocks[i:i+n], p.runs.blocks(id)) || i < t.deferred &&
					i+n > t.deferred {
					return fmt.Errorf("%w: a table lists %v from %d on, %d of them by runs, which is not run %+v",
						ErrCorrupt, blocks, i, t.deferred, p.runs.all[id])
				}
			}
			for ; n > 0; n-- {
				held[blocks[i]]++
				i++
			}
		}
	}
	for id, n := range held {
		if refs := p.refs(BlockID(id)); refs != n {
			return fmt.Errorf("%w: block %d has %d references, but %d tables list it", ErrCorrupt, id, refs, n)
		}
	}
	return nil
}

// refs returns how many tables list a block.
func (p *Pool) refs(id BlockID) int {
	switch b := p.blocks[id]; b.run {
	case free:
		return 0
	case private:
		return 1
	default:
		return int(p.runs.all[b.run].refs)
	}
}

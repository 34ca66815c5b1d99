package approx

import (
	"slices"
	"sort"
	"sync/atomic"

	"octet/kvpool"
)

// runRing holds the blocks of chains that were routed to a replica of which nothing was heard, in stretches that were
// routed together last: a prompt costs as many steps as it has stretches, not blocks. A block that is held proves that
// all before it are. The zero runRing is empty.
//
// One writer at a time. Readers take no lock: they see the heads, and of a run what never changes and when it stops to
// count. A reader may miss blocks while a run is cut or moved.
type runRing struct {
	heads  atomic.Pointer[heads] // nil where there is nothing
	blocks int
	path   []*run // scratch of route
	ends   run    // the ring's: older than ends is the newest, newer than it the oldest
}

// run is a stretch of a chain. Equal hashes have equal pasts, so two stretches whose last hashes are equal are equal.
type run struct {
	first, last  kvpool.BlockHash
	until        atomic.Int64       // when it stops to count, in nanoseconds; never less than an older run's
	blocks       []kvpool.BlockHash // one at least; never changed
	newer, older *run               // the writer's
}

// mostRuns is into how many stretches a chain may fall before it is written anew as one.
const mostRuns = 8

// newRun returns a run of blocks, which are its own.
func newRun(blocks []kvpool.BlockHash, until int64) *run {
	r := &run{first: blocks[0], last: blocks[len(blocks)-1], blocks: blocks}
	r.until.Store(until)
	return r
}

// shared returns how many blocks chain, which begins as r does, has in common with r.
func (r *run) shared(chain []kvpool.BlockHash) int {
	n := min(len(r.blocks), len(chain))
	if n == len(r.blocks) && r.last == chain[n-1] || r.blocks[n-1] == chain[n-1] {
		return n
	}
	return 1 + sort.Search(n-1, func(i int) bool { return r.blocks[i+1] != chain[i+1] })
}

// leading returns how many leading blocks of chain count at now.
func (h *heads) leading(chain []kvpool.BlockHash, now int64) (n int) {
	for n < len(chain) {
		r := h.find(chain[n])
		if r == nil || r.until.Load() <= now {
			break
		}
		n += r.shared(chain[n:])
	}
	return n
}

// route makes chain the most recent of all, its first block before its second, to count until a time. It returns how
// many of its leading blocks counted at now.
func (s *runRing) route(chain []kvpool.BlockHash, now, until int64) (found int) {
	s.path = s.path[:0]
	for at := 0; at < len(chain); {
		r := s.find(chain[at])
		if r == nil {
			r = s.addRun(chain[at:])
		} else {
			n := r.shared(chain[at:])
			if found == at && r.until.Load() > now {
				found += n
			}
			r = s.cut(r, n)
		}
		s.path = append(s.path, r)
		at += len(r.blocks)
	}
	if len(s.path) > mostRuns {
		s.join(chain)
	}
	for _, r := range slices.Backward(s.path) {
		r.until.Store(until)
		s.moveToFront(r)
	}
	return found
}

// find returns the run that begins with b, nil if no run does.
func (s *runRing) find(b kvpool.BlockHash) *run {
	if h := s.heads.Load(); h != nil {
		return h.find(b)
	}
	return nil
}

// addRun adds the blocks that are not there, as one run.
func (s *runRing) addRun(chain []kvpool.BlockHash) *run {
	if s.heads.Load() == nil {
		s.ends.newer, s.ends.older = &s.ends, &s.ends
	}
	s.blocks += len(chain)
	r := newRun(slices.Clone(chain), 0)
	s.add(r)
	return r
}

// add puts r among the heads. No run begins as it does.
func (s *runRing) add(r *run) {
	h := s.heads.Load()
	if h == nil || h.full() {
		h = h.grown()
		s.heads.Store(h)
	}
	h.put(r)
}

// cut returns the first n blocks of r as a run. What is left of r is one too, and keeps r's place. Neither keeps the
// other's memory.
func (s *runRing) cut(r *run, n int) *run {
	if n == len(r.blocks) {
		return r
	}
	rest := newRun(slices.Clone(r.blocks[n:]), r.until.Load())
	s.add(rest)
	rest.succeed(r)
	first := newRun(slices.Clone(r.blocks[:n]), r.until.Load())
	s.heads.Load().replace(r, first)
	return first
}

// join makes one run of chain, which is all of path.
func (s *runRing) join(chain []kvpool.BlockHash) {
	h := s.heads.Load()
	for _, r := range s.path[1:] {
		h.remove(r)
		r.unlink()
	}
	all := newRun(slices.Clone(chain), 0)
	h.replace(s.path[0], all)
	s.path[0].unlink()
	clear(s.path)
	s.path = append(s.path[:0], all)
}

// trim drops what does not count at now any more, and the oldest blocks beyond bound.
func (s *runRing) trim(now int64, bound int) {
	for s.blocks > 0 {
		r := s.ends.newer
		excess := s.blocks - bound
		switch {
		case r.until.Load() <= now || excess >= len(r.blocks):
			s.drop(r)
		case excess > 0:
			s.shorten(r, len(r.blocks)-excess)
		default:
			return
		}
	}
}

// shorten leaves the first n blocks of r.
func (s *runRing) shorten(r *run, n int) {
	s.blocks -= len(r.blocks) - n
	left := r.blocks[:n]
	if n < cap(left)/2 {
		left = slices.Clone(left)
	}
	short := newRun(left, r.until.Load())
	short.succeed(r)
	s.heads.Load().replace(r, short)
}

func (s *runRing) drop(r *run) {
	s.heads.Load().remove(r)
	s.blocks -= len(r.blocks)
	r.unlink()
}

// moveToFront makes r the newest.
func (s *runRing) moveToFront(r *run) {
	if s.ends.older == r {
		return
	}
	r.unlink()
	r.older, r.newer = s.ends.older, &s.ends
	r.older.newer, r.newer.older = r, r
}

// succeed puts r, which is not in the ring, where old is.
func (r *run) succeed(old *run) {
	if old.newer != nil {
		r.newer, r.older = old.newer, old.older
		r.newer.older, r.older.newer = r, r
		old.newer, old.older = nil, nil
	}
}

// unlink takes r out of the ring; one that is not in it stays as it is.
func (r *run) unlink() {
	if r.newer != nil {
		r.newer.older, r.older.newer = r.older, r.newer
		r.newer, r.older = nil, nil
	}
}

// each calls f with every block, the least recent first.
func (s *runRing) each(f func(b kvpool.BlockHash, until int64)) {
	if s.blocks == 0 {
		return
	}
	for r := s.ends.newer; r != &s.ends; r = r.newer {
		for _, b := range slices.Backward(r.blocks) {
			f(b, r.until.Load())
		}
	}
}

// empty drops everything, and its memory.
func (s *runRing) empty() {
	s.heads.Store(nil)
	s.blocks, s.path = 0, nil
	s.ends.newer, s.ends.older = nil, nil
}

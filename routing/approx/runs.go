package approx

import (
	"slices"
	"sort"

	"octet/kvpool"
)

// runs are the blocks of chains that were routed to a replica of which nothing was heard, in stretches that were routed together
// last: a prompt costs as many steps as it has stretches, not blocks. Who has a block has all before it. The zero runs are empty.
type runs struct {
	heads  map[kvpool.BlockHash]*run // by first block
	ends   run                       // the ring's: older than ends is the newest, newer than it the oldest
	blocks int
	path   []*run // scratch of route
}

// run is a stretch of a chain. Equal hashes have equal pasts, so where the last of two stretches are equal, all are.
type run struct {
	blocks       []kvpool.BlockHash // one at least
	until        int64              // when it stops to count, in nanoseconds; never less than an older run's
	newer, older *run
}

// mostRuns is into how many stretches a chain may fall before it is written anew as one.
const mostRuns = 8

// shared returns how many blocks chain, which begins as r does, has in common with r.
func (r *run) shared(chain []kvpool.BlockHash) int {
	n := min(len(r.blocks), len(chain))
	if r.blocks[n-1] == chain[n-1] {
		return n
	}
	return 1 + sort.Search(n-1, func(i int) bool { return r.blocks[i+1] != chain[i+1] })
}

// leading returns how many leading blocks of chain count at now.
func (s *runs) leading(chain []kvpool.BlockHash, now int64) (n int) {
	for n < len(chain) {
		r := s.heads[chain[n]]
		if r == nil || r.until <= now {
			break
		}
		n += r.shared(chain[n:])
	}
	return n
}

// route makes chain the most recent of all, its first block before its second, to count until a time. It returns how many of
// its leading blocks counted at now.
func (s *runs) route(chain []kvpool.BlockHash, now, until int64) (found int) {
	s.path = s.path[:0]
	for at := 0; at < len(chain); {
		r := s.heads[chain[at]]
		if r == nil {
			r = s.begin(chain[at:])
		} else {
			n := r.shared(chain[at:])
			if found == at && r.until > now {
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
		r.until = until
		s.front(r)
	}
	return found
}

// begin adds what is not there, as one run.
func (s *runs) begin(chain []kvpool.BlockHash) *run {
	if s.heads == nil {
		s.heads = map[kvpool.BlockHash]*run{}
		s.ends.newer, s.ends.older = &s.ends, &s.ends
	}
	s.blocks += len(chain)
	return s.add(slices.Clone(chain))
}

func (s *runs) add(blocks []kvpool.BlockHash) *run {
	r := &run{blocks: blocks}
	s.heads[blocks[0]] = r
	return r
}

// cut returns the first n blocks of r as a run. What is left of r stays where it is. Neither keeps the other's memory.
func (s *runs) cut(r *run, n int) *run {
	if n == len(r.blocks) {
		return r
	}
	first := s.add(slices.Clone(r.blocks[:n]))
	r.blocks = slices.Clone(r.blocks[n:])
	s.heads[r.blocks[0]] = r
	return first
}

// join makes one run of chain, which is all of path.
func (s *runs) join(chain []kvpool.BlockHash) {
	for _, r := range s.path[1:] {
		delete(s.heads, r.blocks[0])
		r.unlink()
	}
	s.path[0].blocks = slices.Clone(chain)
	clear(s.path[1:])
	s.path = s.path[:1]
}

// trim drops what does not count at now any more, and the oldest blocks beyond bound.
func (s *runs) trim(now int64, bound int) {
	for s.blocks > 0 {
		r := s.ends.newer
		excess := s.blocks - bound
		switch {
		case r.until <= now || excess >= len(r.blocks):
			s.drop(r)
		case excess > 0:
			s.blocks -= excess
			if r.blocks = r.blocks[:len(r.blocks)-excess]; len(r.blocks) < cap(r.blocks)/2 {
				r.blocks = slices.Clone(r.blocks)
			}
		default:
			return
		}
	}
}

func (s *runs) drop(r *run) {
	delete(s.heads, r.blocks[0])
	s.blocks -= len(r.blocks)
	r.unlink()
}

// front makes r the newest.
func (s *runs) front(r *run) {
	if s.ends.older == r {
		return
	}
	r.unlink()
	r.older, r.newer = s.ends.older, &s.ends
	r.older.newer, r.newer.older = r, r
}

// unlink takes r out of the ring; one that is not in it stays as it is.
func (r *run) unlink() {
	if r.newer != nil {
		r.newer.older, r.older.newer = r.older, r.newer
		r.newer, r.older = nil, nil
	}
}

// each calls f with every block, the least recent first.
func (s *runs) each(f func(b kvpool.BlockHash, until int64)) {
	if s.blocks == 0 {
		return
	}
	for r := s.ends.newer; r != &s.ends; r = r.newer {
		for _, b := range slices.Backward(r.blocks) {
			f(b, r.until)
		}
	}
}

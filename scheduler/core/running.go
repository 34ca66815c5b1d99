package core

import (
	"fmt"
	"iter"
	"slices"

	"octet/kvpool"
	"octet/scheduler/queue"
)

// group is the running sequences that share batches: those of one adapter, or all where cross-adapter batches are on.
type group struct {
	adapter string
	running []*sequence // in rank order
}

func (g *group) find(r queue.Rank) (int, bool) {
	return slices.BinarySearchFunc(g.running, r, func(s *sequence, r queue.Rank) int {
		switch {
		case s.Rank.Before(r):
			return -1
		case r.Before(s.Rank):
			return 1
		}
		return 0
	})
}

// running is the sequences that hold blocks, in the groups that share batches.
type running struct {
	groups []*group // none empty; the first is served next
	count  int      // sequences
	cross  bool     // batches hold any adapters: there is one group
}

// adapter returns the name of the batches with s.
func (r *running) adapter(s *sequence) string {
	if r.cross {
		return ""
	}
	return s.req.Adapter
}

// add adds s to its adapter's group. A new group takes the last turn.
func (r *running) add(s *sequence) {
	r.count++
	adapter := r.adapter(s)
	i := slices.IndexFunc(r.groups, func(g *group) bool { return g.adapter == adapter })
	if i < 0 {
		i = len(r.groups)
		r.groups = append(r.groups, &group{adapter: adapter})
	}
	g := r.groups[i]
	at, _ := g.find(s.Rank)
	g.running = slices.Insert(g.running, at, s)
	s.group = g
}

// remove takes s out.
func (r *running) remove(s *sequence) {
	g := s.group
	at, _ := g.find(s.Rank)
	g.running = slices.Delete(g.running, at, at+1)
	if len(g.running) == 0 {
		i := slices.Index(r.groups, g)
		r.groups = slices.Delete(r.groups, i, i+1)
	}
	s.group = nil
	r.count--
}

// rotate gives g the last turn, so that each of n groups waits n-1 steps at most.
func (r *running) rotate(g *group) {
	for i := range r.groups {
		if r.groups[i] == g {
			copy(r.groups[i:], r.groups[i+1:])
			r.groups[len(r.groups)-1] = g
			return
		}
	}
}

// due returns the blocks that sequences at least as urgent as priority need for their next token.
func (r *running) due(pool *kvpool.Pool, priority int) (n int) {
	for _, g := range r.groups {
		for _, s := range g.running {
			if s.req.Priority < priority {
				break
			}
			if s.decoding() {
				n += max(0, pool.Blocks(s.computed+1)-s.table.Len())
			}
		}
	}
	return n
}

// held returns the blocks of the sequences that may give way and are not above limit. A shared block counts once for
// each of them: no more than so many can become free.
func (r *running) held(limit int, step uint64) (n int) {
	for _, g := range r.groups {
		for i := len(g.running) - 1; i >= 0 && g.running[i].req.Priority <= limit; i-- {
			if s := g.running[i]; s.yields(step) {
				n += s.table.Len()
			}
		}
	}
	return n
}

// outranked reports whether a sequence below priority may give way. One look at each group, and at those that may not.
func (r *running) outranked(priority int, step uint64) bool {
	for _, g := range r.groups {
		for i := len(g.running) - 1; i >= 0 && g.running[i].req.Priority < priority; i-- {
			if g.running[i].yields(step) {
				return true
			}
		}
	}
	return false
}

// tables yields the block table of each sequence.
func (r *running) tables() iter.Seq[*kvpool.Table] {
	return func(yield func(*kvpool.Table) bool) {
		for _, g := range r.groups {
			for _, s := range g.running {
				if !yield(&s.table) {
					return
				}
			}
		}
	}
}

// stop takes s out of the running and frees its blocks, which stay cached.
func (c *Core) stop(s *sequence) {
	c.reserved -= s.table.Len() - c.pool.Blocks(s.computed)
	c.pool.Release(&s.table)
	s.computed = 0
	c.running.remove(s)
}

// preempt sends a running sequence back to where it was in the queue: its blocks are freed, its generated tokens and
// its arrival are kept, and what is still cached when it returns need not be computed again. A hybrid leaves a copy of
// its state where that is the cheaper way.
func (c *Core) preempt(s *sequence) {
	if s.slot >= 0 {
		panic(fmt.Sprintf("scheduler: preempting %d, which is item %d of step %d", s.req.ID, s.slot, c.step))
	}
	c.host.save(s, c.pool, &c.timing)
	c.stop(s)
	s.preempted, s.gaveWay = true, c.step
	s.preemptions++
	c.preempted++
	c.totals.preemptions++
	c.waiting.Push(s, c.now)
}

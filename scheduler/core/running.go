package core

import (
	"fmt"
	"slices"

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

// adapter returns what batches with s are named for.
func (c *Core) adapter(s *sequence) string {
	if c.cfg.CrossAdapter {
		return ""
	}
	return s.req.Adapter
}

// join adds s to its adapter's group. A new group takes the last turn.
func (c *Core) join(s *sequence) {
	c.running++
	adapter := c.adapter(s)
	i := slices.IndexFunc(c.groups, func(g *group) bool { return g.adapter == adapter })
	if i < 0 {
		i = len(c.groups)
		c.groups = append(c.groups, &group{adapter: adapter})
	}
	g := c.groups[i]
	at, _ := g.find(s.Rank)
	g.running = slices.Insert(g.running, at, s)
	s.group = g
}

// stop takes s out of the running and frees its blocks, which stay cached.
func (c *Core) stop(s *sequence) {
	c.reserved -= s.table.Len() - c.pool.Blocks(s.computed)
	c.pool.Release(&s.table)
	s.computed = 0
	g := s.group
	at, _ := g.find(s.Rank)
	g.running = slices.Delete(g.running, at, at+1)
	if len(g.running) == 0 {
		i := slices.Index(c.groups, g)
		c.groups = slices.Delete(c.groups, i, i+1)
	}
	s.group = nil
	c.running--
}

// preempt sends a running sequence back to where it was in the queue: its blocks are freed, its generated tokens and
// its arrival are kept, and what is still cached when it returns need not be computed again. A hybrid leaves a copy of
// its state where that is the cheaper way.
func (c *Core) preempt(s *sequence) {
	if s.slot >= 0 {
		panic(fmt.Sprintf("scheduler: preempting %d, which is item %d of step %d", s.req.ID, s.slot, c.step))
	}
	c.save(s)
	c.stop(s)
	s.preempted, s.gaveWay = true, c.step
	s.preemptions++
	c.preempted++
	c.totals.preemptions++
	c.waiting.Push(s, c.now)
}

package scheduler

import (
	"fmt"
	"slices"
)

// group is the running sequences of one adapter: only they share a batch.
type group struct {
	adapter string
	running []*sequence // in rank order
	cut     int         // the last ones that victims passes over; 0 between uses
}

func (g *group) find(r rank) (int, bool) {
	return slices.BinarySearchFunc(g.running, r, func(s *sequence, r rank) int {
		switch {
		case s.rank.before(r):
			return -1
		case r.before(s.rank):
			return 1
		}
		return 0
	})
}

// join adds s to its adapter's group. A new group takes the last turn.
func (c *Core) join(s *sequence) {
	c.running++
	i := slices.IndexFunc(c.groups, func(g *group) bool { return g.adapter == s.req.Adapter })
	if i < 0 {
		i = len(c.groups)
		c.groups = append(c.groups, &group{adapter: s.req.Adapter})
	}
	g := c.groups[i]
	at, _ := g.find(s.rank)
	g.running = slices.Insert(g.running, at, s)
	s.group = g
}

// stop takes s out of the running and frees its blocks, which stay cached.
func (c *Core) stop(s *sequence) {
	c.reserved -= s.table.Len() - c.pool.Blocks(s.computed)
	c.pool.Release(&s.table)
	s.computed = 0
	g := s.group
	at, _ := g.find(s.rank)
	g.running = slices.Delete(g.running, at, at+1)
	if len(g.running) == 0 {
		i := slices.Index(c.groups, g)
		c.groups = slices.Delete(c.groups, i, i+1)
	}
	s.group = nil
	c.running--
}

// preempt sends a running sequence back to where it was in the queue: its blocks are freed, its generated tokens and its
// arrival are kept, and what is still cached when it returns need not be computed again.
func (c *Core) preempt(s *sequence) {
	if s.slot >= 0 {
		panic(fmt.Sprintf("scheduler: preempting %d, which is item %d of step %d", s.req.ID, s.slot, c.step))
	}
	c.stop(s)
	s.preempted = true
	c.preempted++
	c.totals.preemptions++
	c.waiting.push(s.rank, s)
}

// lowest returns the running sequence that has to give way first: the least urgent, of those the latest arrival.
// nil when nothing runs. One look at each group.
func (c *Core) lowest() *sequence {
	g := c.lowestGroup()
	if g == nil {
		return nil
	}
	return g.running[len(g.running)-1-g.cut]
}

func (c *Core) lowestGroup() (low *group) {
	var last rank
	for _, g := range c.groups {
		if g.cut == len(g.running) {
			continue
		}
		if r := g.running[len(g.running)-1-g.cut].rank; low == nil || last.before(r) {
			low, last = g, r
		}
	}
	return low
}

// outrank lets the head of the queue take the place of strictly less urgent running sequences, lowest first, where that
// makes it fit and nothing less does.
func (c *Core) outrank() {
	for c.waiting.len() > 0 {
		head := c.waiting.top()
		if !c.outranks(head, c.lowest()) || c.fits(head) {
			return
		}
		n := c.victims(head)
		if n == 0 {
			return
		}
		for range n {
			c.preempt(c.lowest())
		}
		c.admit(head)
	}
}

func (c *Core) outranks(head, low *sequence) bool {
	return low != nil && low.rank.priority < head.rank.priority
}

// victims returns how many of the lowest running sequences have to go for head to fit; 0 when not even all that are
// strictly less urgent would do. It changes nothing. The first to go leaves a place, so only blocks are counted.
func (c *Core) victims(head *sequence) (n int) {
	blocks := c.pool.Blocks(len(head.tokens) + 1)
	free := c.pool.Imagine(head.reusable(c.cfg.BlockSize))
	enough := false
	for low := c.lowest(); !enough && c.outranks(head, low); low = c.lowest() {
		free.Release(&low.table)
		low.group.cut++
		n++
		enough = free.Fits(blocks)
	}
	for _, g := range c.groups {
		for ; g.cut > 0; g.cut-- {
			free.Undo(&g.running[len(g.running)-g.cut].table)
		}
	}
	free.Close()
	if !enough {
		return 0
	}
	return n
}

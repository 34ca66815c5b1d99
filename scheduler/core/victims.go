package core

import (
	"fmt"
	"math"
	"slices"

	"octet/kvpool"
)

// pinAfter is how often a request can be made to give way. From then on it is pinned: it starts when its whole answer
// has room, and keeps its place to the end. That bounds all preemption, and with it the work done twice.
const pinAfter = 4

func (s *sequence) pinned() bool { return s.preemptions >= pinAfter }

// yields reports whether s, which runs, may be made to give way. A sequence is safe in the step that starts it: else
// the room for it would have been made in vain.
func (s *sequence) yields(step uint64) bool { return !s.pinned() && s.started < step }

// need returns the blocks with which s starts: its tokens and one step of draft tokens more, or, pinned, all of it.
func (s *sequence) need(pool *kvpool.Pool, draft int) int {
	if s.pinned() {
		return pool.Blocks(s.prompt + s.req.MaxNew)
	}
	return pool.Blocks(len(s.tokens) + 1 + draft)
}

// promised returns the blocks that s keeps whatever it computes.
func (s *sequence) promised(pool *kvpool.Pool) int {
	if s.pinned() {
		return s.need(pool, 0)
	}
	return 0
}

// headroom returns the blocks that an admission leaves free for the growth of running others.
func (c *Core) headroom(others int) int {
	if others == 0 {
		return 0
	}
	return c.watermark
}

// outrank lets the head of the queue take the place of strictly less urgent running sequences. They give way only if
// the head then fits beside the growth that is due to others at least as urgent: those would else take the place from
// it in the same step, and the victims had given way in vain. Only declared priorities count: a request that waiting
// has lifted preempts no other. Nor does one that gave way in this step: its blocks are free for others, and its
// snapshot is still to be taken.
func (c *Core) outrank() {
	for c.waiting.Len() > 0 {
		head := c.waiting.Top()
		if head.gaveWay == c.step || !c.running.outranked(head.req.Priority, c.step) || c.fits(head) {
			return
		}
		chosen := c.choose(head.reusable(c.cfg.BlockSize), head.need(c.pool, 0), head)
		if len(chosen) == 0 {
			return
		}
		for _, v := range chosen {
			c.preempt(v.s)
		}
		if !c.admit(head, c.running.due(c.pool, head.req.Priority)) {
			panic(fmt.Sprintf("scheduler: %d gave way and %d does not fit in %d free blocks", len(chosen), head.req.ID,
				c.pool.Free()))
		}
	}
}

// widen adds the least urgent class that is not among the victims yet, and not above limit, cheapest first. It returns
// false if there are no more. A class whose turn does not come costs nothing: pricing looks at every block.
func (c *Core) widen(limit int) bool {
	listed, least, some := len(c.victims), limit, false
	last := math.MinInt
	if listed > 0 {
		last = c.victims[listed-1].s.req.Priority
	}
	for _, g := range c.running.groups {
		for i := len(g.running) - 1; i >= 0 && g.running[i].req.Priority <= least; i-- {
			if s := g.running[i]; (listed == 0 || s.req.Priority > last) && s.yields(c.step) {
				least, some = s.req.Priority, true
				break
			}
		}
	}
	if !some {
		return false
	}
	for _, g := range c.running.groups {
		for i := len(g.running) - 1; i >= 0 && g.running[i].req.Priority <= least; i-- {
			if s := g.running[i]; s.req.Priority == least && s.yields(c.step) {
				c.victims = append(c.victims, c.victim(s))
			}
		}
	}
	slices.SortFunc(c.victims[listed:], func(a, b victim) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	return true
}

// choose returns the victims for a table of so many blocks of asker, of which chain is shared if cached. If asker runs
// they are at most as urgent; if it waits, less urgent. They are in order, as few as do, and none of them without need.
// There are none if not even all would do. If asker comes up before there is enough, it alone has to go: the room was
// for it. Nothing changes.
func (c *Core) choose(chain []kvpool.BlockHash, blocks int, asker *sequence) []victim {
	free := c.pool.Imagine(chain)
	defer free.Close()
	waits, limit, due := asker.group == nil, asker.req.Priority, 0
	if waits {
		limit, due = limit-1, c.running.due(c.pool, limit)
		if !free.Fits(blocks + due - c.running.held(limit, c.step)) {
			return nil // without pricing: a head that is blocked for long costs little
		}
	}
	enough := func(n int) bool {
		if !waits {
			return free.Fits(blocks)
		}
		return free.Fits(blocks + max(due, c.headroom(c.running.count-n)))
	}
	c.victims = c.victims[:0]
	n := 0
	for n == 0 || !enough(n) {
		if n == len(c.victims) && !c.widen(limit) {
			undo(&free, c.victims)
			return nil
		}
		if c.victims[n].s == asker {
			undo(&free, c.victims[:n])
			return c.victims[n : n+1]
		}
		free.Release(&c.victims[n].s.table)
		n++
	}
	chosen := c.victims[:n]
	for i := n - 1; i >= 0 && len(chosen) > 1; i-- {
		v := chosen[i]
		free.Undo(&v.s.table)
		if enough(len(chosen) - 1) {
			chosen = slices.Delete(chosen, i, i+1)
		} else {
			free.Release(&v.s.table)
		}
	}
	undo(&free, chosen)
	return chosen
}

func undo(free *kvpool.Imagined, vs []victim) {
	for i := range vs {
		free.Undo(&vs[i].s.table)
	}
}

package scheduler

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"octet/kvpool"
)

// ErrCorrupt is wrapped by what the Checks find, besides kvpool.ErrCorrupt.
var ErrCorrupt = errors.New("scheduler: corrupt")

// Check proves the invariants of a Core and of its pool, in time linear in all it holds. For tests and diagnosis.
func (c *Core) Check() error {
	if err := c.waiting.check(); err != nil {
		return err
	}
	if err := c.pool.CheckTables(c.tables()); err != nil {
		return err
	}
	running, reserved := 0, 0
	for _, g := range c.groups {
		if len(g.running) == 0 || g.cut != 0 {
			return fmt.Errorf("%w: group %q of %d, cut %d", ErrCorrupt, g.adapter, len(g.running), g.cut)
		}
		for i, s := range g.running {
			if err := c.checkRunning(g, i, s); err != nil {
				return err
			}
			running++
			reserved += s.table.Len() - c.pool.Blocks(s.computed)
		}
	}
	if running != c.running || running > c.cfg.MaxRunning || reserved != c.reserved {
		return fmt.Errorf("%w: %d running (at most %d) reserve %d, counted %d and %d", ErrCorrupt, running, c.cfg.MaxRunning, reserved, c.running, c.reserved)
	}
	return c.checkWaiting()
}

func (c *Core) checkRunning(g *group, i int, s *sequence) error {
	switch {
	case s.group != g || s.waiting >= 0 || s.req.Adapter != g.adapter || c.live[s.req.ID] != s:
		return fmt.Errorf("%w: %d runs in group %q, queued at %d", ErrCorrupt, s.req.ID, g.adapter, s.waiting)
	case i > 0 && !g.running[i-1].rank.before(s.rank):
		return fmt.Errorf("%w: %d runs out of order", ErrCorrupt, s.req.ID)
	case s.computed >= len(s.tokens) || s.table.Len() < c.pool.Blocks(s.computed):
		return fmt.Errorf("%w: %d has computed %d of %d tokens in %d blocks", ErrCorrupt, s.req.ID, s.computed, len(s.tokens), s.table.Len())
	case s.generated() >= s.req.MaxNew || !c.out && s.slot >= 0:
		return fmt.Errorf("%w: %d has %d of %d tokens, slot %d", ErrCorrupt, s.req.ID, s.generated(), s.req.MaxNew, s.slot)
	}
	return nil
}

func (c *Core) checkWaiting() error {
	preempted := 0
	for _, at := range c.waiting.slots {
		s := at.item
		if s.table.Len() != 0 || s.computed != 0 || s.slot >= 0 || s.group != nil || at.rank != s.rank || c.live[s.req.ID] != s {
			return fmt.Errorf("%w: %d waits with %d blocks, %d computed, slot %d", ErrCorrupt, s.req.ID, s.table.Len(), s.computed, s.slot)
		}
		if s.preempted {
			preempted++
		}
	}
	if preempted != c.preempted || c.waiting.len()-preempted > c.cfg.MaxWaiting || c.waiting.len()+c.running != len(c.live) {
		return fmt.Errorf("%w: %d wait (%d preempted, counted %d), %d run, %d live", ErrCorrupt, c.waiting.len(), preempted, c.preempted, c.running, len(c.live))
	}
	return nil
}

func (c *Core) tables() iter.Seq[*kvpool.Table] {
	return func(yield func(*kvpool.Table) bool) {
		for _, g := range c.groups {
			for _, s := range g.running {
				if !yield(&s.table) {
					return
				}
			}
		}
	}
}

// check proves that every parent comes before its children and that every item knows where it is.
func (q *queue[T]) check() error {
	for i, s := range q.slots {
		if i > 0 && !q.slots[(i-1)/arity].rank.before(s.rank) {
			return fmt.Errorf("%w: queue position %d comes before its parent", ErrCorrupt, i)
		}
		if at := *s.item.queueIndex(); at != i {
			return fmt.Errorf("%w: queue position %d thinks it is %d", ErrCorrupt, i, at)
		}
	}
	if n := q.ahead(math.MinInt); n != q.len() {
		return fmt.Errorf("%w: %d are queued, by priority %d", ErrCorrupt, q.len(), n)
	}
	return nil
}

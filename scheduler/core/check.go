package core

import (
	"fmt"

	"octet/scheduler"
)

// Check proves the invariants of a Core and of its pool, in time linear in all it holds. For tests and diagnosis.
func (c *Core) Check() error {
	if err := c.waiting.Check(); err != nil {
		return err
	}
	if err := c.pool.CheckTables(c.running.tables()); err != nil {
		return err
	}
	running, reserved := 0, 0
	for _, g := range c.running.groups {
		if len(g.running) == 0 {
			return fmt.Errorf("%w: group %q is empty", scheduler.ErrCorrupt, g.adapter)
		}
		for i, s := range g.running {
			if err := c.checkRunning(g, i, s); err != nil {
				return err
			}
			running++
			reserved += s.table.Len() - c.pool.Blocks(s.computed)
		}
	}
	if running != c.running.count || running > c.cfg.MaxRunning || reserved != c.reserved {
		return fmt.Errorf("%w: %d running (at most %d) reserve %d, counted %d and %d", scheduler.ErrCorrupt, running,
			c.cfg.MaxRunning, reserved, c.running.count, c.reserved)
	}
	if err := c.checkWaiting(); err != nil {
		return err
	}
	return c.host.check(c.live)
}

func (c *Core) checkRunning(g *group, i int, s *sequence) error {
	switch {
	case s.group != g || s.Queued() || c.running.adapter(s) != g.adapter || c.live[s.req.ID] != s:
		return fmt.Errorf("%w: %d runs in group %q, queued: %t", scheduler.ErrCorrupt, s.req.ID, g.adapter, s.Queued())
	case i > 0 && !g.running[i-1].Rank.Before(s.Rank):
		return fmt.Errorf("%w: %d runs out of order", scheduler.ErrCorrupt, s.req.ID)
	case s.computed >= len(s.tokens) || s.table.Len() < c.pool.Blocks(s.computed):
		return fmt.Errorf("%w: %d has computed %d of %d tokens in %d blocks", scheduler.ErrCorrupt, s.req.ID,
			s.computed,
			len(s.tokens), s.table.Len())
	case s.preemptions > pinAfter || s.table.Len() < s.promised(c.pool):
		return fmt.Errorf("%w: %d gave way %d times and has %d blocks", scheduler.ErrCorrupt, s.req.ID, s.preemptions,
			s.table.Len())
	case s.restoring && (s.computed != s.kept || s.host == 0) || !s.restoring && s.host != 0:
		return fmt.Errorf("%w: %d runs with %d bytes of %d tokens in the host, restoring: %t", scheduler.ErrCorrupt,
			s.req.ID,
			s.host, s.kept, s.restoring)
	case s.generated() >= s.req.MaxNew || !c.out && s.slot >= 0:
		return fmt.Errorf("%w: %d has %d of %d tokens, slot %d", scheduler.ErrCorrupt, s.req.ID, s.generated(),
			s.req.MaxNew,
			s.slot)
	}
	return nil
}

func (c *Core) checkWaiting() error {
	preempted, bytes := 0, int64(0)
	for s := range c.waiting.All() {
		if s.table.Len() != 0 || s.computed != 0 || s.slot >= 0 || s.group != nil || s.restoring ||
			c.live[s.req.ID] != s {
			return fmt.Errorf("%w: %d waits with %d blocks, %d computed, slot %d", scheduler.ErrCorrupt, s.req.ID,
				s.table.Len(),
				s.computed, s.slot)
		}
		if s.preempted {
			preempted++
		} else {
			bytes += s.req.bytes(c.cfg.BlockSize)
		}
	}
	if bytes != c.waitingBytes || bytes > c.cfg.MaxWaitingBytes {
		return fmt.Errorf("%w: %d bytes wait, counted %d", scheduler.ErrCorrupt, bytes, c.waitingBytes)
	}
	if preempted != c.preempted || c.waiting.Len()-preempted > c.cfg.MaxWaiting ||
		c.waiting.Len()+c.running.count != len(c.live) {
		return fmt.Errorf("%w: %d wait (%d preempted, counted %d), %d run, %d live", scheduler.ErrCorrupt,
			c.waiting.Len(),
			preempted, c.preempted, c.running.count, len(c.live))
	}
	return nil
}

package scheduler

import (
	"errors"
	"fmt"
	"iter"

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
		if len(g.running) == 0 {
			return fmt.Errorf("%w: group %q is empty", ErrCorrupt, g.adapter)
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
		return fmt.Errorf("%w: %d running (at most %d) reserve %d, counted %d and %d", ErrCorrupt, running,
			c.cfg.MaxRunning, reserved, c.running, c.reserved)
	}
	if err := c.checkWaiting(); err != nil {
		return err
	}
	return c.checkHost()
}

func (c *Core) checkRunning(g *group, i int, s *sequence) error {
	switch {
	case s.group != g || s.at >= 0 || c.adapter(s) != g.adapter || c.live[s.req.ID] != s:
		return fmt.Errorf("%w: %d runs in group %q, queued at %d", ErrCorrupt, s.req.ID, g.adapter, s.at)
	case i > 0 && !g.running[i-1].rank.before(s.rank):
		return fmt.Errorf("%w: %d runs out of order", ErrCorrupt, s.req.ID)
	case s.computed >= len(s.tokens) || s.table.Len() < c.pool.Blocks(s.computed):
		return fmt.Errorf("%w: %d has computed %d of %d tokens in %d blocks", ErrCorrupt, s.req.ID, s.computed,
			len(s.tokens), s.table.Len())
	case s.preemptions > pinAfter || s.table.Len() < c.promised(s):
		return fmt.Errorf("%w: %d gave way %d times and has %d blocks", ErrCorrupt, s.req.ID, s.preemptions,
			s.table.Len())
	case s.restoring && (s.computed != s.kept || s.host == 0) || !s.restoring && s.host != 0:
		return fmt.Errorf("%w: %d runs with %d bytes of %d tokens in the host, restoring: %t", ErrCorrupt, s.req.ID,
			s.host, s.kept, s.restoring)
	case s.generated() >= s.req.MaxNew || !c.out && s.slot >= 0:
		return fmt.Errorf("%w: %d has %d of %d tokens, slot %d", ErrCorrupt, s.req.ID, s.generated(), s.req.MaxNew,
			s.slot)
	}
	return nil
}

func (c *Core) checkWaiting() error {
	preempted, bytes := 0, int64(0)
	for s := range c.waiting.all() {
		if s.table.Len() != 0 || s.computed != 0 || s.slot >= 0 || s.group != nil || s.restoring ||
			c.live[s.req.ID] != s {
			return fmt.Errorf("%w: %d waits with %d blocks, %d computed, slot %d", ErrCorrupt, s.req.ID, s.table.Len(),
				s.computed, s.slot)
		}
		if s.preempted {
			preempted++
		} else {
			bytes += c.promptBytes(&s.req)
		}
	}
	if bytes != c.waitingBytes || bytes > c.cfg.MaxWaitingBytes {
		return fmt.Errorf("%w: %d bytes wait, counted %d", ErrCorrupt, bytes, c.waitingBytes)
	}
	if preempted != c.preempted || c.waiting.len()-preempted > c.cfg.MaxWaiting ||
		c.waiting.len()+c.running != len(c.live) {
		return fmt.Errorf("%w: %d wait (%d preempted, counted %d), %d run, %d live", ErrCorrupt, c.waiting.len(),
			preempted, c.preempted, c.running, len(c.live))
	}
	return nil
}

func (c *Core) checkHost() error {
	bytes := int64(0)
	for _, s := range c.live {
		bytes += s.host
	}
	if bytes != c.host || bytes > c.cfg.HostBytes {
		return fmt.Errorf("%w: copies of %d bytes in the host, counted %d of %d", ErrCorrupt, bytes, c.host,
			c.cfg.HostBytes)
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

// check proves that every lane is in order, and that each account is where it belongs.
func (b *backlog[T]) check() error {
	count, lifting := 0, 0
	for i, l := range b.lanes {
		if err := l.check(); err != nil {
			return err
		}
		if i > 0 && b.lanes[i-1].level <= l.level {
			return fmt.Errorf("%w: level %d behind %d", ErrCorrupt, l.level, b.lanes[i-1].level)
		}
		count += l.waiting
		if b.aging > 0 && l.level < b.ceiling {
			lifting += l.waiting
		}
	}
	if count != b.count || lifting != b.rising.len() {
		return fmt.Errorf("%w: %d wait, counted %d; %d will be lifted, queued %d", ErrCorrupt, count, b.count, lifting,
			b.rising.len())
	}
	return b.rising.check()
}

func (l *lane[T]) check() error {
	waiting := 0
	for _, t := range l.tenants.slots {
		a := t.item
		if t.rank != a.rank() || l.accounts[a.tenant] != a || a.tag < l.now || a.owing || a.requests.len() == 0 {
			return fmt.Errorf("%w: tenant %q is to start at %d (now %d), owing %t", ErrCorrupt, a.tenant, a.tag, l.now,
				a.owing)
		}
		if err := a.requests.check(); err != nil {
			return err
		}
		for _, r := range a.requests.slots {
			if p := r.item.place(); p.lane != l || p.account != a {
				return fmt.Errorf("%w: %d waits elsewhere", ErrCorrupt, p.rank.id)
			}
		}
		waiting += a.requests.len()
	}
	if waiting != l.waiting || waiting == 0 || len(l.accounts) != l.tenants.len()+l.owing.len() {
		return fmt.Errorf("%w: %d wait at level %d, counted %d", ErrCorrupt, waiting, l.level, l.waiting)
	}
	for _, t := range l.owing.slots {
		if a := t.item; a.requests.len() > 0 || !a.owing || a.tag <= l.now {
			return fmt.Errorf("%w: tenant %q owes nothing at %d (now %d)", ErrCorrupt, a.tenant, a.tag, l.now)
		}
	}
	return errors.Join(l.owing.check(), l.tenants.check())
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
	return nil
}

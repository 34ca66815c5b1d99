package gate

import (
	"fmt"
	"slices"

	"octet/kvpool"
	"octet/scheduler"
)

// Check proves the invariants of a Gate and of its pool, in time linear in all it holds. For tests and diagnosis.
func (g *Gate) Check() error {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	if err := g.waiting.Check(); err != nil {
		return err
	}
	if g.pool != nil {
		if err := g.checkBlocks(); err != nil {
			return err
		}
	}
	if err := g.checkTickets(); err != nil {
		return err
	}
	return g.checkHead()
}

// checkHead proves that nobody waits who could start: but for one whom a deadline held back, and who is let in with the
// next token or question.
func (g *Gate) checkHead() error {
	if g.waiting.Len() == 0 || g.held {
		return nil
	}
	w := g.waiting.Top()
	if _, fits := g.fits(&w.req, g.elapsed()); fits {
		return fmt.Errorf("%w: %s waits and fits: %d running, %d blocks free", scheduler.ErrCorrupt, w.req.ID, len(g.tickets),
			g.unused())
	}
	return nil
}

// unused returns the free blocks; 0 where they are not known.
func (g *Gate) unused() int {
	if g.pool == nil {
		return 0
	}
	return g.pool.Free()
}

func (g *Gate) checkBlocks() error {
	if err := g.pool.CheckTables(func(yield func(*kvpool.Table) bool) {
		if !yield(&g.calibration.withheld) {
			return
		}
		for _, t := range g.tickets {
			if !yield(t.table) {
				return
			}
		}
	}); err != nil {
		return err
	}
	reserved, owed, debtors := 0, 0, 0
	for _, t := range g.tickets {
		reserved += t.ahead()
		owed += t.owed
		if t.owed > 0 {
			debtors++
		}
	}
	if reserved != g.reserved || owed != g.owed || debtors != len(g.debtors) {
		return fmt.Errorf("%w: reserved %d, owed %d to %d, counted %d, %d, %d", scheduler.ErrCorrupt, reserved, owed, debtors,
			g.reserved, g.owed, len(g.debtors))
	}
	if owed > 0 && g.pool.Free() > 0 {
		return fmt.Errorf("%w: %d blocks are owed and %d are free", scheduler.ErrCorrupt, owed, g.pool.Free())
	}
	return nil
}

func (g *Gate) checkTickets() error {
	yielding, filling, sequences := 0, 0, 0
	for i, t := range g.tickets {
		sequences += t.shape.sequences()
		if t.yielding {
			yielding++
		}
		if t.filling {
			filling += t.uncached
		}
		if t.released || t.index != i || t.victim() && t.rank.Priority < g.lowest || t.owed < 0 ||
			t.owed > 0 != slices.Contains(g.debtors, t) {
			return fmt.Errorf("%w: ticket %s at %d of %d: priority %d, lowest %d, yielding %t, owed %d", scheduler.ErrCorrupt,
				t.id, t.index, i, t.rank.Priority, g.lowest, t.yielding, t.owed)
		}
	}
	if g.Preempting() != (g.preempting() > 0) {
		return fmt.Errorf("%w: %d have to give way or are owed blocks, told: %t", scheduler.ErrCorrupt, g.preempting(),
			g.Preempting())
	}
	if yielding != len(g.yielding) || filling != g.filling || sequences != g.sequences {
		return fmt.Errorf("%w: %d yield, counted %d; %d tokens to prefill, counted %d; %d sequences, counted %d",
			scheduler.ErrCorrupt, yielding, len(g.yielding), filling, g.filling, sequences, g.sequences)
	}
	return nil
}

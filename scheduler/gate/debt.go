package gate

import "slices"

// claim has t hold n blocks: what is free now, and the rest as a debt. Caller holds gateMu.
func (t *Ticket) claim(n int) {
	g := t.gate
	more := n - t.table.Len() - t.owed
	if more <= 0 {
		return
	}
	g.lend(more - g.pool.Free())
	now := min(more, g.pool.Free())
	t.take(now)
	if more == now {
		return
	}
	if t.owed == 0 {
		g.debtors = append(g.debtors, t)
	}
	t.owed += more - now
	g.owed += more - now
	g.pressed()
}

// take adds n free blocks.
func (t *Ticket) take(n int) {
	g := t.gate
	g.reserved -= t.ahead()
	g.pool.Extend(t.table, t.table.Len()+n)
	g.reserved += t.ahead()
}

// payDebts hands free blocks to debtors, oldest debt first. Caller holds gateMu.
func (g *Gate) payDebts() {
	for len(g.debtors) > 0 && g.pool.Free() > 0 {
		t := g.debtors[0]
		n := min(t.owed, g.pool.Free())
		t.take(n)
		t.owed -= n
		g.owed -= n
		if t.owed == 0 {
			g.debtors = slices.Delete(g.debtors, 0, 1)
			g.pressed()
		}
	}
}

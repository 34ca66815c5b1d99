package scheduler

import "octet/kvpool"

// makeRoom tells the lowest victims that are strictly less urgent than head to give way: as few as make it fit, and
// nobody if not even all of them would. Those who were told before are counted first. Caller holds gateMu.
func (g *Gate) makeRoom(head *waiter, now Time) {
	before, enough := g.choose(&head.req, head.rank, now)
	for _, t := range g.yielding[before:] {
		if enough {
			t.giveWay()
		} else {
			g.victims.push(t.rank.reversed(), t)
		}
	}
	if !enough {
		g.yielding = g.yielding[:before]
	}
}

// wouldYield reports whether others would give way for r at the head of the queue, so that it starts. It changes nothing.
func (g *Gate) wouldYield(r *GateRequest, place rank, now Time) bool {
	before, enough := g.choose(r, place, now)
	for _, t := range g.yielding[before:] {
		g.victims.push(t.rank.reversed(), t)
	}
	g.yielding = g.yielding[:before]
	return enough
}

// choose moves victims to yielding until r fits without them, and says from where on and whether it does.
func (g *Gate) choose(r *GateRequest, place rank, now Time) (before int, enough bool) {
	before = len(g.yielding)
	if before == 0 && !g.outranked(place) {
		return before, false
	}
	room := g.imagine(r, now)
	for _, t := range g.yielding {
		room.release(t)
	}
	for !room.enough() && g.outranked(place) {
		t := g.victims.pop()
		room.release(t)
		g.yielding = append(g.yielding, t)
	}
	enough = room.enough()
	room.close(g.yielding)
	return before, enough
}

func (g *Gate) outranked(place rank) bool {
	return g.victims.len() > 0 && g.victims.top().rank.priority < place.priority
}

// room is what one request would find if some tickets were released.
type room struct {
	gate    *Gate
	now     Time
	running int // who would be left in the engine
	owed    int // blocks that others get first
	blocks  int // that the request needs
	pool    kvpool.Imagined
}

func (g *Gate) imagine(r *GateRequest, now Time) room {
	m := room{gate: g, now: now, running: len(g.tickets), owed: g.owed}
	if g.pool != nil {
		m.blocks, m.pool = g.blocks(r), g.pool.Imagine(g.reusable(r))
	}
	return m
}

func (m *room) release(t *Ticket) {
	t.away = true
	m.running--
	m.owed -= t.owed
	if m.gate.pool != nil {
		m.pool.Release(&t.table)
	}
}

func (m *room) enough() bool {
	g := m.gate
	return m.running < g.maxRunning && (g.pool == nil || m.pool.Fits(m.blocks+m.owed)) && m.running < g.ceiling(m.running, m.now)
}

// close ends the thought; released are the tickets that were imagined away.
func (m *room) close(released []*Ticket) {
	for _, t := range released {
		t.away = false
		if m.gate.pool != nil {
			m.pool.Undo(&t.table)
		}
	}
	if m.gate.pool != nil {
		m.pool.Close()
	}
}

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
	places int // in the engine
	owed   int // blocks that others get first
	blocks int // that the request needs
	pool   kvpool.Imagined
	paged  bool // else only places count
}

func (g *Gate) imagine(r *GateRequest, now Time) room {
	m := room{places: min(g.maxRunning, g.ceiling(now)) - len(g.tickets), owed: g.owed}
	if g.pool != nil {
		m.paged, m.blocks, m.pool = true, g.blocks(r), g.pool.Imagine(g.reusable(r))
	}
	return m
}

func (m *room) release(t *Ticket) {
	m.places++
	m.owed -= t.owed
	if m.paged {
		m.pool.Release(&t.table)
	}
}

func (m *room) enough() bool {
	return m.places > 0 && (!m.paged || m.pool.Fits(m.blocks+m.owed))
}

// close ends the thought; released are the tickets that were imagined away.
func (m *room) close(released []*Ticket) {
	if !m.paged {
		return
	}
	for _, t := range released {
		m.pool.Undo(&t.table)
	}
	m.pool.Close()
}

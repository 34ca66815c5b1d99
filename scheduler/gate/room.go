package gate

import (
	"cmp"
	"math"
	"slices"

	"octet/kvpool"
	"octet/scheduler"
	"octet/scheduler/queue"
)

// makeRoom tells victims that are strictly less urgent than head to give way, in the order of candidates: as few as
// make it fit, and nobody if not even all of them would. Those who were told before are counted first. Caller holds
// gateMu.
func (g *Gate) makeRoom(head *waiter, now scheduler.Time) {
	before, enough := g.choose(&head.req, head.Rank, now)
	g.thrift.again = 0
	if enough && len(g.yielding) > before {
		g.thrift.again, enough = g.affords(&head.req, now)
	}
	if !enough {
		g.yielding = g.yielding[:before]
		return
	}
	for _, t := range g.yielding[before:] {
		g.thrift.left -= float64(t.forgone(now))
		t.giveWay()
	}
	g.pressed()
}

// wouldYield reports whether others would give way for r at the head of the queue, so that it starts. It changes
// nothing.
func (g *Gate) wouldYield(r *Request, place queue.Rank, now scheduler.Time) bool {
	before, enough := g.choose(r, place, now)
	if enough && len(g.yielding) > before {
		_, enough = g.affords(r, now)
	}
	g.yielding = g.yielding[:before]
	return enough
}

// choose adds to yielding, untold, until r fits without them, and says from where on and whether it does.
func (g *Gate) choose(r *Request, place queue.Rank, now scheduler.Time) (before int, enough bool) {
	before = len(g.yielding)
	if before == 0 && !g.outranked(place) || g.slack(r, 0, 0, now) < 0 {
		return before, false // what it could share may be gone when the others are: then it would be too late
	}
	room := g.imagine(r, now)
	for _, t := range g.yielding {
		room.release(t)
	}
	enough = room.enough()
	if !enough && g.outranked(place) {
		for _, v := range g.candidates(place.Priority, now) {
			room.release(v.t)
			g.yielding = append(g.yielding, v.t)
			if enough = room.enough(); enough {
				break
			}
		}
	}
	room.close(g.yielding)
	return before, enough
}

// concession is a victim, and what its giving way costs.
type concession struct {
	t     *Ticket
	price float64 // tokens to compute again for a freed block
}

// candidates returns who may be told to give way and is below priority, in that order: the less urgent; then who has
// the fewest tokens to compute again for a freed block; then who came last. The slice is valid until the next call.
func (g *Gate) candidates(priority int, now scheduler.Time) []concession {
	g.priced = g.priced[:0]
	for _, t := range g.tickets {
		if t.victim() && t.rank.Priority < priority {
			g.priced = append(g.priced, concession{t, t.price(now)})
		}
	}
	slices.SortFunc(g.priced, func(a, b concession) int {
		if a.t.rank.Priority != b.t.rank.Priority || a.price == b.price {
			return cmp.Or(cmp.Compare(a.t.rank.Priority, b.t.rank.Priority), bySign(b.t.rank.Before(a.t.rank)))
		}
		return cmp.Compare(a.price, b.price)
	})
	return g.priced
}

func bySign(first bool) int {
	if first {
		return -1
	}
	return 1
}

// price returns the tokens that the engine would compute again for t, for each block that its giving way frees. What
// others keep in the prefix cache is not lost; of a prefill under way as much is as its time is over. All requests of
// an engine are of one model, so that recurrent state, where it has any, weighs the same on each.
func (t *Ticket) price(now scheduler.Time) float64 {
	lost := t.progress(now) + t.unsaid(now)
	if t.gate.pool == nil {
		return lost
	}
	freed, kept := t.yield()
	if freed == 0 {
		return math.Inf(1)
	}
	return max(0, lost-float64(kept)) / float64(freed)
}

// yield returns the blocks that t's giving way frees, and the tokens that stay in the cache because others hold them.
func (t *Ticket) yield() (freed, kept int) {
	g := t.gate
	if g.pool == nil {
		return 0, 0
	}
	size := g.pool.BlockSize()
	freed, kept = g.pool.Loss(t.table, t.chain[:min(len(t.chain), t.computed/size)])
	return freed, kept * size
}

// unsaid is what the tokens weigh that an answer which comes whole has by now and nobody has heard of, in tokens of
// prefill that take the engine as long: they are said again from the first.
func (t *Ticket) unsaid(now scheduler.Time) float64 {
	if !t.whole || !t.gate.rates.prefill.known() {
		return 0
	}
	if slope, ok := t.gate.rates.prefill.slope(); ok && slope > 0 {
		return max(0, float64(now-t.admitted-t.prefillTime())) * t.share() / slope
	}
	return 0
}

// share is t's part of the engine while all run side by side.
func (t *Ticket) share() float64 { return float64(t.shape.sequences()) / float64(t.gate.sequences) }

// progress returns the tokens of t that the engine holds.
func (t *Ticket) progress(now scheduler.Time) float64 {
	if t.first != 0 {
		return float64(t.shape.prompt + t.shape.apart(t.gate.pool) + t.generated)
	}
	part := 1.0
	if whole := t.prefillTime(); whole > 0 {
		part = min(1, float64(now-t.admitted)/float64(whole))
	}
	return float64(t.computed) + part*float64(t.uncached)
}

// outranked reports whether anybody may be told to give way for one of place. Linear in the running where that was so
// lately.
func (g *Gate) outranked(place queue.Rank) bool {
	if g.lowest >= place.Priority {
		return false
	}
	g.lowest = math.MaxInt
	for _, t := range g.tickets {
		if t.victim() {
			g.lowest = min(g.lowest, t.rank.Priority)
		}
	}
	return g.lowest < place.Priority
}

// room is what one request would find if some tickets were released.
type room struct {
	gate    *Gate
	now     scheduler.Time
	running int // sequences that would be left in the engine
	more    int // sequences of the request
	owed    int // blocks that others get first
	blocks  int // that the request needs
	pool    kvpool.Imagined
}

func (g *Gate) imagine(r *Request, now scheduler.Time) room {
	s := r.shape()
	m := room{gate: g, now: now, running: g.sequences, more: s.sequences(), owed: g.owed}
	if g.pool != nil {
		m.blocks, m.pool = g.blocks(r), g.pool.Imagine(g.reusable(r))
	}
	return m
}

func (m *room) release(t *Ticket) {
	t.away = true
	m.running -= t.shape.sequences()
	m.owed -= t.owed
	if m.gate.pool != nil {
		m.pool.Release(t.table)
	}
}

func (m *room) enough() bool {
	g := m.gate
	return (g.pool == nil || m.pool.Fits(m.blocks+m.owed)) && g.placed(m.running, m.more, m.now)
}

// close ends the thought; released are the tickets that were imagined away.
func (m *room) close(released []*Ticket) {
	for _, t := range released {
		t.away = false
		if m.gate.pool != nil {
			m.pool.Undo(t.table)
		}
	}
	if m.gate.pool != nil {
		m.pool.Close()
	}
}

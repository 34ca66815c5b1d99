package peering

import (
	"time"

	"octet/internal/contain"
	"octet/routing/peers/peerspb"
)

// leave tells what has not been told yet, however soon after the last time, and then that this gateway counts nowhere.
func (g *Group) leave() {
	g.shares.due()
	g.mu.Lock()
	g.measured = time.Time{}
	g.mu.Unlock()
	contain.Do(contain.Task, func() { g.look(time.Now()) })
	g.mu.Lock()
	last := g.teller.Leave()
	g.mu.Unlock()
	g.send("", last)
}

// send sends a message and counts it. Work and knobs that do not go are told again with the next whole one.
func (g *Group) send(to string, message []byte) bool {
	err := g.cfg.Link.Send(to, message)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.failed++
		return false
	}
	g.sent++
	g.bytes += uint64(len(message))
	return true
}

// one sends a message that has no number to one gateway; to "", to all.
func (g *Group) one(to string, m *peerspb.Message) bool {
	g.mu.Lock()
	text := g.teller.One(m)
	g.mu.Unlock()
	return g.send(to, text)
}

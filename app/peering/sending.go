package peering

import "octet/routing/peers/peerspb"

// send sends a message and counts it. What does not go is told again by the next whole one.
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

// one sends a message to one gateway.
func (g *Group) one(to string, m *peerspb.Message) bool {
	g.mu.Lock()
	text := g.teller.One(m)
	g.mu.Unlock()
	return g.send(to, text)
}

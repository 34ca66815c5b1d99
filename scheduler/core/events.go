package core

import (
	"octet/internal/poison"
	"octet/kvpool"
)

// TakeEvents returns the blocks that came to and left the prefix cache since the last call, in order.
// The slice is valid until the next call; the tokens that it points to never change.
// A Core keeps events until they are taken: a caller that wants none takes and drops them each step.
func (c *Core) TakeEvents() []BlockEvent {
	return c.events.take()
}

// eventLog keeps the events until they are taken.
type eventLog struct{ events, spare []BlockEvent }

func (l *eventLog) take() []BlockEvent {
	taken := l.events
	poison.Values(l.spare) // void from now on, as TakeEvents says; a Core and what it returns are one goroutine's
	l.events, l.spare = l.spare[:0], taken
	return taken
}

// stored notes block i of s.
func (l *eventLog) stored(s *sequence, i, size int) {
	parent, root := s.parent(i)
	l.events = append(l.events, BlockEvent{
		Stored: true, Hash: s.chain[i], Parent: parent, IsRoot: root,
		Tokens: s.tokens[i*size : (i+1)*size : (i+1)*size], Adapter: s.req.Adapter, Salt: s.req.Salt,
	})
}

func (l *eventLog) removed(h kvpool.BlockHash) { l.events = append(l.events, BlockEvent{Hash: h}) }

package core

import (
	"octet/internal/poison"
	"octet/kvpool"
)

// TakeEvents returns the blocks that came to and left the prefix cache since the last call, in order.
// The slice is valid until the next call; the tokens that it points to never change.
// A Core keeps events until they are taken: a caller that wants none takes and drops them each step.
func (c *Core) TakeEvents() []BlockEvent {
	taken := c.events
	poison.Values(c.spare) // void from now on, as said above; a Core and what it returns are one goroutine's
	c.events, c.spare = c.spare[:0], taken
	return taken
}

func (c *Core) stored(s *sequence, i int) {
	parent, root := s.parent(i)
	size := c.cfg.BlockSize
	c.events = append(c.events, BlockEvent{
		Stored: true, Hash: s.chain[i], Parent: parent, IsRoot: root,
		Tokens: s.tokens[i*size : (i+1)*size : (i+1)*size], Adapter: s.req.Adapter, Salt: s.req.Salt,
	})
}

func (c *Core) removed(h kvpool.BlockHash) { c.events = append(c.events, BlockEvent{Hash: h}) }

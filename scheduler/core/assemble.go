package core

import (
	"fmt"

	"octet/scheduler"
)

// Assemble reserves the blocks of the next step and returns it: the sequences of one adapter, decodes before prefill
// chunks, in rank order. It settles nothing, so a batch that fails needs only [Core.Abort]. The batch is empty exactly
// when nothing is waiting or running; any other must be committed or aborted before the next.
//
// Growing sequences come before new ones. Where blocks run out the least urgent running sequence gives way, the
// cheapest among equals, and nothing new starts in a step that had to preempt.
func (c *Core) Assemble(now scheduler.Time) Batch {
	if c.out {
		panic(fmt.Sprintf("scheduler: assembling step %d, but step %d is out", c.step+1, c.step))
	}
	c.step++
	c.now = now
	c.budget = c.cfg.TokenBudget
	c.items, c.slots = c.items[:0], c.slots[:0]
	c.host.begin()
	c.waiting.Lift(now)
	before := c.totals.preemptions
	c.outrank()
	turn := c.serve()
	if c.totals.preemptions == before || turn == nil {
		turn = c.startWaiting(turn)
	}
	if turn == nil {
		return Batch{Step: c.step}
	}
	c.running.rotate(turn)
	c.out = true
	discards, snapshots := c.host.tell()
	return Batch{Step: c.step, Adapter: turn.adapter, Items: c.items, Discards: discards, Snapshots: snapshots}
}

// serve schedules the running sequences of the group whose turn it is. A group whose sequences all gave way is no more,
// and the next takes its turn.
func (c *Core) serve() *group {
	for len(c.running.groups) > 0 {
		g := c.running.groups[0]
		c.decodes(g)
		c.prefills(g)
		if len(c.items) > 0 {
			return g
		}
	}
	return nil
}

// decodes schedules one token of each decoding sequence, and draft windows where budget and blocks are left over when
// every one has its token.
func (c *Core) decodes(g *group) {
	c.secureAll(g)
	for i, s := range g.running {
		if s.decoding() {
			others := len(g.running) - i - 1 // each still gets a token
			draft := c.speculate(s, min(s.window(), c.budget-1-others))
			mode := Decode
			if draft > 0 {
				mode = SpecVerify
			}
			c.schedule(s, mode, 1, draft)
		}
	}
}

// secureAll gets every decoding sequence the block for its next token.
func (c *Core) secureAll(g *group) {
	for i := 0; i < len(g.running); {
		s := g.running[i]
		s.held = s.table.Len()
		if s.decoding() && !c.secure(s) {
			continue // s gave way itself, and the next has its place
		}
		if i >= len(g.running) || g.running[i] != s {
			i, _ = g.find(s.Rank) // some before it gave way
		}
		i++
	}
}

// secure gets the block that the next token of s needs, from victims if there is no other way. It returns false if s
// itself had to give way.
func (c *Core) secure(s *sequence) bool {
	need := c.pool.Blocks(s.computed + 1)
	if short := need - s.table.Len(); short > c.pool.Free() {
		for _, v := range c.choose(nil, short, s) {
			c.preempt(v.s)
			if v.s == s {
				return false
			}
		}
	}
	c.extend(s, need)
	return true
}

// speculate reserves room for draft tokens after the next, all or none: no sequence gives way for a guess.
func (c *Core) speculate(s *sequence, draft int) int {
	if draft < 1 {
		return 0
	}
	need := c.pool.Blocks(s.computed + 1 + draft)
	if need-s.table.Len() > c.pool.Free() {
		return 0
	}
	c.extend(s, need)
	return draft
}

// prefills spends what is left of the budget on prompts. Their blocks were taken when they were admitted.
func (c *Core) prefills(g *group) {
	for _, s := range g.running {
		if c.budget == 0 {
			return
		}
		if s.slot < 0 {
			c.prefill(s)
		}
	}
}

func (c *Core) prefill(s *sequence) {
	s.held = s.table.Len()
	c.schedule(s, Prefill, min(s.remaining(), c.cfg.ChunkTokens, c.budget), 0)
}

// startWaiting admits from the head of the queue, in order, until one does not fit. Those of the step's adapter join it
// while there is budget; the first to start decides the adapter where nothing runs.
func (c *Core) startWaiting(turn *group) *group {
	for c.waiting.Len() > 0 {
		s := c.waiting.Top()
		joins := turn == nil || turn.adapter == c.running.adapter(s)
		if joins && c.budget == 0 || !c.admit(s, 0) {
			break
		}
		if joins {
			turn = s.group
			c.prefill(s)
		}
	}
	return turn
}

// schedule appends the next n tokens of s to the batch, with room for draft more.
func (c *Core) schedule(s *sequence, mode Mode, n, draft int) {
	end := s.computed + n
	s.slot = len(c.items)
	c.budget -= n + draft
	c.slots = append(c.slots, s)
	c.items = append(c.items, Item{
		ID: s.req.ID, Mode: mode, Draft: draft, Start: s.computed, Tokens: s.tokens[s.computed:end:end],
		Samples: end == len(s.tokens), Table: s.table.Blocks()[:c.pool.Blocks(end+draft)], Cached: s.cached,
		Batched: s.generated(),
		Adapter: s.req.Adapter, Policy: s.req.Policy, Restore: s.restoring,
	})
}

package core

import (
	"fmt"
	"slices"

	"octet/kvpool"
)

// fits reports whether s could start now on the plain lane: a place, and blocks for all its tokens and one step.
func (c *Core) fits(s *sequence) bool {
	if c.running.count >= c.cfg.MaxRunning {
		return false
	}
	_, ok := c.pool.Fits(s.reusable(c.cfg.BlockSize), s.need(c.pool, 0)+c.headroom(c.running.count))
	return ok
}

// admit starts the head of the queue if it fits and leaves the blocks that are due to others, taking all that its
// prompt and first step need: a prefill that has begun is never short. A speculative request gets its whole draft
// window too, or starts on the plain lane.
func (c *Core) admit(s *sequence, due int) bool {
	if c.running.count >= c.cfg.MaxRunning {
		return false
	}
	chain := s.reusable(c.cfg.BlockSize)
	for _, draft := range [...]int{s.window(), 0} {
		n := s.need(c.pool, draft)
		if reuse, ok := c.pool.Fits(chain, n+max(due, c.headroom(c.running.count))); ok {
			c.start(s, chain[:reuse], n)
			return true
		}
	}
	return false
}

// window returns the draft tokens that s can still use.
func (s *sequence) window() int { return max(0, min(s.req.Draft, s.req.MaxNew-s.generated()-1)) }

// start moves s from the queue to the running, with n blocks of which the first share cached.
func (c *Core) start(s *sequence, cached []kvpool.BlockHash, n int) {
	if !s.admitted {
		c.reserve(s)
	}
	s.computed = c.pool.Share(&s.table, cached) * c.cfg.BlockSize
	c.extend(s, n)
	if s.host > 0 { // it starts where its snapshot was taken; the copy stays until a step has brought it back
		s.computed, s.restoring = s.kept, true
		c.reserved -= c.pool.Blocks(s.kept)
	}
	if !s.admitted {
		c.waiting.Charge(s, s.remaining())
		s.admitted, s.cached = true, s.computed
		c.totals.admitted++
		c.totals.cachedTokens += uint64(s.cached)
		c.totals.promptTokens += uint64(s.prompt)
	}
	s.started = c.step
	c.dequeue(s)
	c.running.add(s)
}

// roomAhead is how many generated tokens a sequence gets room for when it starts: so many steps do not allocate for it,
// and a request that allows more but ends soon has not cost more than this.
const roomAhead = 2048

// reserve makes room in what grows with s.
func (c *Core) reserve(s *sequence) {
	more := min(s.req.MaxNew, roomAhead)
	blocks := c.pool.Blocks(s.prompt + more)
	s.tokens = slices.Grow(s.tokens, more)
	s.chain = slices.Grow(s.chain, blocks-len(s.chain))
	s.table.Reserve(blocks)
}

// extend takes blocks that are known to be free.
func (c *Core) extend(s *sequence, n int) {
	had := s.table.Len()
	if !c.pool.Extend(&s.table, n) {
		panic(fmt.Sprintf("scheduler: %d has %d blocks and was promised %d, but %d are free", s.req.ID, had, n,
			c.pool.Free()))
	}
	c.reserved += s.table.Len() - had
}

// dequeue takes s out of the waiting.
func (c *Core) dequeue(s *sequence) {
	c.waiting.Remove(s)
	if s.preempted {
		s.preempted = false
		c.preempted--
	} else {
		c.waitingBytes -= s.req.bytes(c.cfg.BlockSize)
	}
}

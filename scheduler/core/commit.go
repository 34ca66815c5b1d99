package core

import (
	"fmt"

	"octet/scheduler"
)

// Commit settles the batch that is out with one result for each item: computed blocks become shareable, sampled tokens
// are appended and returned, rejected drafts give their blocks back, and what ended is released. The outputs are in
// batch order and valid until the next Commit. Results of requests that were cancelled meanwhile are ignored.
func (c *Core) Commit(b Batch, rs []Result, now scheduler.Time) []Output {
	c.back(b)
	if len(rs) != len(b.Items) {
		panic(fmt.Sprintf("scheduler: %d results for the %d items of step %d", len(rs), len(b.Items), b.Step))
	}
	c.outputs = c.outputs[:0]
	c.host.delivered()
	c.measure(b, now)
	for i := range b.Items {
		if err := checkResult(&b.Items[i], &rs[i]); err != nil {
			panic(fmt.Sprintf("scheduler: step %d: %v", b.Step, err))
		}
		if s := c.slots[i]; s != nil {
			s.slot = -1
			c.settle(s, &b.Items[i], &rs[i], now)
		}
	}
	return c.outputs
}

// Abort ends a batch that the engine did not compute. What Assemble reserved for it is free again; nothing else
// changed, so the requests are as they were and run again in their next turn, unless the caller cancels them.
func (c *Core) Abort(b Batch) {
	c.back(b)
	c.host.failed()
	for _, s := range c.slots {
		if s != nil {
			s.slot = -1
			c.trim(s, s.held)
		}
	}
}

// back takes the batch that is out back.
func (c *Core) back(b Batch) {
	if !c.out || b.Step != c.step || len(b.Items) != len(c.slots) {
		panic(fmt.Sprintf("scheduler: settling step %d of %d items, but step %d of %d is the last (out: %t)",
			b.Step, len(b.Items), c.step, len(c.slots), c.out))
	}
	c.out = false
}

// checkResult returns what makes r no result of it; nil for a fit one.
func checkResult(it *Item, r *Result) error {
	most := 0
	if it.Samples {
		most = 1 + it.Draft
	}
	if r.ID != it.ID || len(r.Tokens) > most || it.Samples && len(r.Tokens) == 0 {
		return fmt.Errorf("%d tokens for %d, expected 1 to %d for %d (samples: %t)", len(r.Tokens), r.ID, most, it.ID,
			it.Samples)
	}
	return nil
}

func (c *Core) settle(s *sequence, it *Item, r *Result, now scheduler.Time) {
	if it.Restore {
		c.host.restored(s)
	}
	computed := s.computed + len(it.Tokens) + max(0, len(r.Tokens)-1) // the last sampled token is not in the cache yet
	finish := NotFinished
	for i, token := range r.Tokens {
		if i == len(r.Tokens)-1 {
			finish = s.finish(r.Stop)
		}
		c.outputs = append(c.outputs,
			Output{ID: s.req.ID, Index: s.generated(), Token: token, Finish: finish, Cached: s.cached})
		s.tokens = append(s.tokens, token)
	}
	c.advance(s, computed)
	if it.Mode == SpecVerify {
		c.trim(s, max(c.pool.Blocks(computed+1), s.promised(c.pool)))
	}
	if finish != NotFinished {
		c.stop(s)
		delete(c.live, s.req.ID)
		c.totals.finished++
		c.drain.Mark(now)
	}
}

// finish says why s ends with the token after the present ones.
func (s *sequence) finish(stop bool) Finish {
	switch {
	case stop:
		return FinishStop
	case s.generated()+1 == s.req.MaxNew:
		return FinishLength
	}
	return NotFinished
}

// advance notes that tokens[:computed] are in the cache and makes the blocks that are full now shareable.
func (c *Core) advance(s *sequence, computed int) {
	c.reserved -= c.pool.Blocks(computed) - c.pool.Blocks(s.computed)
	size := c.cfg.BlockSize
	for i := s.computed / size; i < computed/size; i++ {
		if s.req.Hybrid {
			break
		}
		if i == len(s.chain) {
			parent, _ := s.parent(i)
			s.chain = append(s.chain, c.hasher.Next(parent, s.tokens[i*size:(i+1)*size]))
		}
		if c.pool.Seal(&s.table, i, s.chain[i]) {
			c.events.stored(s, i, size)
		}
	}
	s.computed = computed
}

// measure notes how long a step with a prefill took.
func (c *Core) measure(b Batch, now scheduler.Time) {
	tokens, prefill := 0, false
	for i := range b.Items {
		tokens += len(b.Items[i].Tokens)
		prefill = prefill || b.Items[i].Mode == Prefill
	}
	if took := now - c.now; prefill && took > 0 {
		c.timing.observe(tokens, took)
	}
}

// trim gives back the blocks of s beyond the first n.
func (c *Core) trim(s *sequence, n int) {
	if had := s.table.Len(); had > n {
		c.pool.Trim(&s.table, n)
		c.reserved -= had - n
	}
}

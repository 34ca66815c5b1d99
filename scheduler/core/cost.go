package core

import (
	"math"
	"time"

	"octet/scheduler"
)

// Assumed until the first step was measured. They order victims; no request is refused by them.
const (
	assumedPrefill = 8_000          // tokens a second
	assumedLink    = 16_000_000_000 // bytes a second: pinned memory over PCIe 4 ×16, in practice
)

// timing is how long the engine takes to compute tokens and to carry bytes.
type timing struct {
	rate       float64 // prompt tokens a second, as configured; 0 is measured
	link       float64 // bytes a second
	ns, tokens float64 // faded sums over the steps that had a prefill in them
}

func (t *timing) observe(tokens int, took time.Duration) {
	t.ns = t.ns*7/8 + float64(took)
	t.tokens = t.tokens*7/8 + float64(tokens)
}

// compute returns the time to compute n prompt tokens: as configured, else as measured, else as assumed.
func (t *timing) compute(n int) time.Duration {
	perToken := 1e9 / float64(assumedPrefill)
	switch {
	case t.rate > 0:
		perToken = 1e9 / t.rate
	case t.tokens > 0:
		perToken = t.ns / t.tokens
	}
	return scheduler.Nanos(perToken * float64(n))
}

// carry returns the time for bytes over the link to host memory and back.
func (t *timing) carry(bytes int64) time.Duration {
	return scheduler.Nanos(2e9 * float64(bytes) / t.link)
}

// loss returns what it would cost to have s give way now, as the time until it is back where it is, and the blocks that
// this would free.
//
//   - Pure attention computes again what no other sequence keeps in the prefix cache.
//   - A hybrid copies its state out and back, or computes everything again: its blocks are worth nothing without the
//     state.
//
// The first grows with the length alone. The second has a fixed part, which makes a short hybrid the dearer victim, and
// a flatter slope, which makes a long one the cheaper. Whether and where they cross depends on the sizes and rates.
func (c *Core) loss(s *sequence) (cost time.Duration, freed int) {
	freed, kept := c.pool.Loss(&s.table, s.chain[:min(len(s.chain), s.computed/c.cfg.BlockSize)])
	switch {
	case s.restoring: // its copy is still in host memory
		return 0, freed
	case c.host.worthSaving(s, &c.timing):
		return c.timing.carry(c.host.bytes(s)), freed
	}
	return c.timing.compute(s.computed - kept*c.cfg.BlockSize), freed
}

// victim is a running sequence that may have to give way.
type victim struct {
	s     *sequence
	price float64 // the cost of a freed block, in ns; infinite where none would be freed
}

func (c *Core) victim(s *sequence) victim {
	cost, freed := c.loss(s)
	if freed == 0 {
		return victim{s, math.Inf(1)}
	}
	return victim{s, float64(cost) / float64(freed)}
}

// before reports whether a gives way before b, which is as urgent: the cheaper for a freed block first; then pure
// attention; then the last in order.
func (a *victim) before(b *victim) bool {
	if a.price != b.price {
		return a.price < b.price
	}
	if a.s.req.Hybrid != b.s.req.Hybrid {
		return b.s.req.Hybrid
	}
	return b.s.Rank.Before(a.s.Rank)
}

package scheduler

import (
	"fmt"
	"math"
	"time"

	"octet/kvpool"
)

// answer says what becomes of a request that would have place: admitted, waiting, or refused. It changes nothing.
// Caller holds gateMu.
func (g *Gate) answer(r *GateRequest, place rank, now Time) Answer {
	if g.exceeds(r) {
		return Answer{State: Refused, Reason: ErrExceedsPool}
	}
	reuse, fits := 0, false
	if g.waiting.len() == 0 || place.before(g.waiting.topRank()) {
		reuse, fits = g.fits(r)
	}
	if fits {
		if g.slack(r, reuse, 0, now) < 0 {
			return Answer{State: Refused, Reason: ErrDeadline}
		}
		return Answer{State: Admitted}
	}
	if g.waiting.len() >= g.maxWaiting {
		return Answer{State: Refused, Reason: ErrQueueFull, RetryAfter: g.retryAfter(1, now)}
	}
	ahead := g.waiting.ahead(r.Priority)
	wait := g.rates.drain.retryAfter(ahead+1, now)
	if late := g.slack(r, g.reuse(r), wait, now); late < 0 {
		retry := time.Duration(0)
		if late+wait >= 0 { // an empty queue would do
			retry = g.spread(-late)
		}
		return Answer{State: Refused, Reason: ErrDeadline, RetryAfter: retry}
	}
	return Answer{State: Waiting, Estimate: wait}
}

// exceeds reports whether r could not run alone in the whole pool.
func (g *Gate) exceeds(r *GateRequest) bool {
	if g.pool == nil {
		return false
	}
	room := g.pool.Total()*g.pool.BlockSize() - r.PromptTokens
	return max(r.Resume+1, r.MaxNew) > room
}

// fits reports whether r could start now, and how many blocks it would share. While a block is owed none is free, and
// everybody needs one at least, so nobody fits.
func (g *Gate) fits(r *GateRequest) (reuse int, ok bool) {
	if len(g.tickets) >= g.maxRunning {
		return 0, false
	}
	if g.pool == nil {
		return 0, true
	}
	return g.pool.Fits(g.reusable(r), g.blocks(r))
}

// blocks returns what r holds from its start: its prompt, what it resumes, and one step.
func (g *Gate) blocks(r *GateRequest) int { return g.pool.Blocks(r.PromptTokens + r.Resume + 1) }

// reusable returns the blocks that r may share: full blocks of its prompt, but never the last token before the first one
// sampled, which must be computed.
func (g *Gate) reusable(r *GateRequest) []kvpool.BlockHash {
	size := g.pool.BlockSize()
	full := min(r.PromptTokens/size, max(0, r.PromptTokens+r.Resume-1)/size)
	return r.Chain[:min(len(r.Chain), full)]
}

func (g *Gate) reuse(r *GateRequest) int {
	if g.pool == nil {
		return 0
	}
	return g.pool.Match(g.reusable(r))
}

// slack returns the time left over at r's tightest deadline if it starts after wait, by the measured rates; what is not
// measured takes no time, so that ignorance refuses nobody.
func (g *Gate) slack(r *GateRequest, reuse int, wait time.Duration, now Time) time.Duration {
	if r.Deadline.IsZero() && r.TTFTDeadline.IsZero() {
		return math.MaxInt64
	}
	first := now + wait + g.rates.firstToken(g.uncached(r, reuse))
	slack := time.Duration(math.MaxInt64)
	if !r.TTFTDeadline.IsZero() && r.Resume == 0 {
		slack = r.TTFTDeadline.Sub(g.origin) - first
	}
	if !r.Deadline.IsZero() {
		slack = min(slack, r.Deadline.Sub(g.origin)-first-g.rates.rest(max(0, r.MaxNew-r.Resume)))
	}
	return slack
}

func (g *Gate) uncached(r *GateRequest, reuse int) int {
	n := r.PromptTokens + r.Resume
	if g.pool != nil {
		n -= reuse * g.pool.BlockSize()
	}
	return n
}

// retryAfter returns when the n-th departure from now is due, spread; 0 is unknown.
func (g *Gate) retryAfter(n int, now Time) time.Duration {
	return g.spread(g.rates.drain.retryAfter(n, now))
}

// spread lengthens d by up to a half, so that those who were sent away together do not come back together.
func (g *Gate) spread(d time.Duration) time.Duration {
	if g.jitter != nil {
		d += time.Duration(float64(d) / 2 * g.jitter())
	}
	return min(d, retryCap)
}

func refusal(r *GateRequest, a Answer) *Refusal {
	return &Refusal{Reason: a.Reason, RetryAfter: a.RetryAfter,
		Detail: fmt.Sprintf("%s: %d prompt and %d new tokens at priority %d", r.ID, r.PromptTokens+r.Resume, r.MaxNew, r.Priority)}
}

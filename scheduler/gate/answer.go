package gate

import (
	"math"
	"time"

	"octet/kvpool"
	"octet/scheduler"
	"octet/scheduler/queue"
)

// longWait is the part of the longest wait from which a request that could go elsewhere is offered back.
const longWait = 4

// answer says what becomes of a request that would have place: admitted, waiting, or refused. It changes nothing.
// Caller holds gateMu.
func (g *Gate) answer(r *Request, place queue.Rank, now scheduler.Time) scheduler.Answer {
	head, fits, late := g.atOnce(r, place, now)
	if fits && !late {
		return scheduler.Answer{State: scheduler.Admitted}
	}
	return g.otherwise(r, place, head, fits, now)
}

// atOnce reports whether r would be the next to start, whether it fits now, and whether now is too late for its
// deadlines. Caller holds gateMu.
func (g *Gate) atOnce(r *Request, place queue.Rank, now scheduler.Time) (head, fits, late bool) {
	if g.exceeds(r) {
		return false, false, false
	}
	head = true
	if g.waiting.Len() > 0 {
		n := g.waiting.Newcomer(place, r.Tenant, now)
		head = g.waiting.Leads(&n)
	}
	if !head {
		return false, false, false
	}
	reuse, fits := g.fitsAtOnce(r, now)
	return true, fits, fits && g.slack(r, reuse, 0, now) < 0
}

// otherwise is answer for one who does not start at once: who fits is late. Caller holds gateMu.
func (g *Gate) otherwise(r *Request, place queue.Rank, head, fits bool, now scheduler.Time) scheduler.Answer {
	n := g.waiting.Newcomer(place, r.Tenant, now)
	switch {
	case g.exceeds(r):
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrExceedsPool}
	case fits:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrDeadline}
	case r.AtOnce:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull}
	case head && g.wouldYield(r, place, now):
		return g.mayWait(r, 0, now)
	case r.Resume == 0 && g.waiting.Len() >= g.maxWaiting-g.keptPlaces(r, now) && !g.displaces(place):
		return g.full(r, &n, now)
	}
	return g.mayWait(r, g.turn(r, &n, now), now)
}

// full is the answer where the queue has no place: r may come back when it has one and r's deadline leaves time to wait
// in it.
func (g *Gate) full(r *Request, n *queue.Newcomer, now scheduler.Time) scheduler.Answer {
	vacancy := g.vacancy(r, n, now)
	if a := g.mayWait(r, g.turn(r, n, now), now); a.State == scheduler.Refused {
		if a.RetryAfter > 0 {
			a.Reason, a.RetryAfter = scheduler.ErrQueueFull, max(a.RetryAfter, g.later(vacancy))
		}
		return a
	}
	return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull, RetryAfter: g.later(vacancy)}
}

// mayWait says whether a request whose turn comes after wait may wait for it.
func (g *Gate) mayWait(r *Request, wait time.Duration, now scheduler.Time) scheduler.Answer {
	late := g.slack(r, g.reuse(r), wait, now)
	longest := g.maxWait - g.keptTime(r, now)
	tooLong := g.maxWait > 0 && wait > longest && r.Resume == 0
	switch {
	case late < 0 && late+wait < 0: // not even with an empty queue
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrDeadline}
	case late < 0:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrDeadline, RetryAfter: g.later(-late)}
	case tooLong:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull, RetryAfter: g.later(wait - longest)}
	case r.OfferBack && g.maxWait > 0 && wait > g.maxWait/longWait:
		return scheduler.Answer{State: scheduler.Refused, Reason: scheduler.ErrQueueFull, RetryAfter: g.later(wait), Offered: true}
	}
	return scheduler.Answer{State: scheduler.Waiting, Estimate: wait}
}

// exceeds reports whether r could not run alone in the whole pool.
func (g *Gate) exceeds(r *Request) bool {
	if g.pool == nil {
		return false
	}
	s, total := r.shape(), g.pool.Total()
	return s.exceeds(total, g.pool.BlockSize()) || max(r.Resume, r.MaxNew) > total*g.pool.BlockSize() ||
		s.blocks(g.pool, max(s.each(r.Resume)+1, r.MaxNew)) > total
}

// fits reports whether r could start now, and how many blocks it would share. While a block is owed none is free, and
// everybody needs one at least, so nobody fits.
func (g *Gate) fits(r *Request, now scheduler.Time) (reuse int, ok bool) {
	if !g.vacant(r, now) {
		return 0, false
	}
	if g.pool == nil {
		return 0, true
	}
	return g.pool.Fits(g.reusable(r), g.blocks(r))
}

// fitsAtOnce is fits, where the blocks that r would share matter to its deadlines alone: without any, what is free by
// itself answers for a long prompt without a look at its chain.
func (g *Gate) fitsAtOnce(r *Request, now scheduler.Time) (reuse int, ok bool) {
	if g.pool != nil && r.Deadline.IsZero() && r.TTFTDeadline.IsZero() && g.blocks(r) <= g.pool.Free() {
		return 0, g.vacant(r, now)
	}
	return g.fits(r, now)
}

// vacant reports whether the engine has places for the sequences of r, whatever it holds.
func (g *Gate) vacant(r *Request, now scheduler.Time) bool {
	s := r.shape()
	return g.placed(g.sequences, s.sequences(), now)
}

// placed reports whether so many more sequences may run beside those that are running. Beside none any number may.
func (g *Gate) placed(running, more int, now scheduler.Time) bool {
	return running == 0 || running+more <= g.maxRunning && running+more <= g.ceiling(running, now)
}

// blocks returns what r needs to start: its prompt, what it resumes, and one step.
func (g *Gate) blocks(r *Request) int { return g.holds(r, 1) }

// holds returns the blocks of r when one step may add so many tokens.
func (g *Gate) holds(r *Request, step int) int {
	s := r.shape()
	return s.blocks(g.pool, s.each(r.Resume)+step)
}

// stepOf returns the tokens that one step of r, which fits, may add: its whole draft window where that fits too, else
// it goes by the lane that does not speculate.
func (g *Gate) stepOf(r *Request) int {
	if r.Draft == 0 || g.pool == nil {
		return 1 + r.Draft
	}
	if _, ok := g.pool.Fits(g.reusable(r), g.holds(r, 1+r.Draft)); ok {
		return 1 + r.Draft
	}
	return 1
}

// reusable returns the blocks that r may share: full blocks of its prompt, but never the last token before the first
// one sampled, which must be computed.
func (g *Gate) reusable(r *Request) []kvpool.BlockHash {
	size := g.pool.BlockSize()
	full := min(r.PromptTokens, max(0, r.PromptTokens+r.Resume-1)) / size
	return r.Chain[:min(len(r.Chain), full)]
}

func (g *Gate) reuse(r *Request) int {
	if g.pool == nil {
		return 0
	}
	return g.pool.Match(g.reusable(r))
}

// slack returns the time left over at r's tightest deadline if it starts after wait, by the measured rates and what is
// doubtful about them; what is not measured takes no time, so that ignorance refuses nobody.
func (g *Gate) slack(r *Request, reuse int, wait time.Duration, now scheduler.Time) time.Duration {
	if r.Deadline.IsZero() && r.TTFTDeadline.IsZero() {
		return math.MaxInt64
	}
	filled := g.rates.laterFirstToken(g.uncached(r, reuse))
	if wait == 0 {
		filled = g.rates.firstToken(g.uncached(r, reuse), g.filling)
	}
	first := now + wait + promise(filled, &g.rates.prefillError)
	slack := time.Duration(math.MaxInt64)
	if !r.TTFTDeadline.IsZero() && r.Resume == 0 {
		slack = r.TTFTDeadline.Sub(g.origin) - first
	}
	if r.Deadline.IsZero() {
		return slack
	}
	s := r.shape()
	company := min(g.sequences+s.sequences(), max(g.maxRunning, s.sequences()))
	rest := promise(g.rates.rest(max(0, r.MaxNew-s.each(r.Resume)), company), &g.rates.paceError)
	return min(slack, r.Deadline.Sub(g.origin)-first-rest)
}

func (g *Gate) uncached(r *Request, reuse int) int {
	s := r.shape()
	n := r.PromptTokens + s.apart(g.pool) + r.Resume
	if g.pool != nil {
		n -= reuse * g.pool.BlockSize()
	}
	return n
}

// later makes a Retry-After of the estimate d; 0 stays unknown. It is an eighth longer than it takes, so that who comes
// back does not come just before, and up to a quarter more, so that those who were sent away together do not come
// together.
func (g *Gate) later(d time.Duration) time.Duration {
	d += d / 8
	if g.jitter != nil {
		d += time.Duration(float64(d) / 4 * g.jitter())
	}
	return min(d, queue.LongestRetry)
}

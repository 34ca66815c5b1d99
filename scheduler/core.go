package scheduler

import (
	"fmt"

	"octet/kvpool"
)

// CoreConfig sizes a Core. The zero value of an optional field is the stated default.
type CoreConfig struct {
	Blocks      int    // KV blocks; constant for life
	BlockSize   int    // tokens a block
	MaxRunning  int    // sequences that hold blocks at once
	MaxWaiting  int    // requests that wait; preempted ones come on top
	TokenBudget int    // tokens a step computes at most; at least MaxRunning, so that every decode has its place
	ChunkTokens int    // prompt tokens of one request in one step; 0 is TokenBudget
	Seed        uint64 // of the block hashes
}

func (c CoreConfig) check() error {
	switch {
	case c.MaxRunning < 1 || c.MaxWaiting < 0:
		return fmt.Errorf("%w: %d running, %d waiting", ErrConfig, c.MaxRunning, c.MaxWaiting)
	case c.TokenBudget < c.MaxRunning:
		return fmt.Errorf("%w: a budget of %d tokens for %d running", ErrConfig, c.TokenBudget, c.MaxRunning)
	case c.ChunkTokens < 0 || c.ChunkTokens > c.TokenBudget:
		return fmt.Errorf("%w: chunks of %d tokens, a budget of %d", ErrConfig, c.ChunkTokens, c.TokenBudget)
	}
	return nil
}

// Core schedules the requests of one engine over one pool, step by step. Pure: no goroutines, no clock, no randomness;
// the same calls give the same answers. Not safe for concurrent use.
type Core struct {
	cfg    CoreConfig
	hasher kvpool.Hasher
	pool   *kvpool.Pool

	live    map[uint64]*sequence // waiting and running; never iterated
	waiting queue[*sequence]
	groups  []*group // of the running, none empty; the first is served next
	running int

	step    uint64 // of the last batch that was assembled
	out     bool   // that batch is out
	budget  int    // tokens that this step may still compute
	items   []Item
	slots   []*sequence // of items, same positions; nil once cancelled
	outputs []Output

	events, spare []BlockEvent
	drain         drain
	reserved      int // blocks of running sequences beyond what is computed
	preempted     int // waiting because their blocks were taken
	totals        totals
}

// totals only grow.
type totals struct {
	preemptions, admitted, finished uint64
	cachedTokens, promptTokens      uint64
}

// NewCore returns an empty scheduler.
func NewCore(cfg CoreConfig) (*Core, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	pool, err := kvpool.NewPool(cfg.Blocks, cfg.BlockSize)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if cfg.ChunkTokens == 0 {
		cfg.ChunkTokens = cfg.TokenBudget
	}
	c := &Core{cfg: cfg, hasher: kvpool.NewHasher(cfg.Seed), pool: pool, live: make(map[uint64]*sequence)}
	pool.OnEvict(c.removed)
	return c, nil
}

// Add queues r. The answer says whether the next step would start it. O(log waiting) plus one pass over the prompt.
//
// A request whose prompt and answer together exceed the pool is refused: whatever is accepted can run to its end alone.
func (c *Core) Add(r Request, now Time) (Answer, error) {
	if err := c.accept(&r, now); err != nil {
		return Answer{}, err
	}
	s := &sequence{req: r, rank: rank{r.Priority, r.Arrival, r.ID}, prompt: len(r.Tokens), tokens: r.Tokens, slot: -1}
	s.chain = c.hasher.Chain(make([]kvpool.BlockHash, 0, len(r.Tokens)/c.cfg.BlockSize), r.Root, r.Tokens, c.cfg.BlockSize)
	c.live[r.ID] = s
	c.waiting.push(s.rank, s)
	if s.waiting == 0 && c.fits(s) {
		return Answer{State: Admitted}, nil
	}
	return Answer{State: Waiting, Estimate: c.drain.retryAfter(c.waiting.ahead(r.Priority), now)}, nil
}

// accept returns ErrInvalid or the Refusal for which r may not wait.
func (c *Core) accept(r *Request, now Time) error {
	switch {
	case len(r.Tokens) == 0 || r.MaxNew < 1 || r.Draft < 0:
		return fmt.Errorf("%w: %d of %d tokens, %d new, draft of %d", ErrInvalid, r.ID, len(r.Tokens), r.MaxNew, r.Draft)
	case c.live[r.ID] != nil:
		return fmt.Errorf("%w: %d is already here", ErrInvalid, r.ID)
	}
	if r.MaxNew > c.cfg.Blocks*c.cfg.BlockSize-len(r.Tokens) {
		return &Refusal{Reason: ErrExceedsPool, Detail: fmt.Sprintf("%d prompt and %d new tokens, %d blocks of %d",
			len(r.Tokens), r.MaxNew, c.cfg.Blocks, c.cfg.BlockSize)}
	}
	if r.Deadline != 0 && r.Deadline <= now {
		return &Refusal{Reason: ErrDeadline, Detail: fmt.Sprintf("%v ago", now-r.Deadline)}
	}
	if fresh := c.waiting.len() - c.preempted; fresh >= c.cfg.MaxWaiting {
		return &Refusal{Reason: ErrQueueFull, RetryAfter: c.drain.retryAfter(1, now), Detail: fmt.Sprintf("%d are waiting", fresh)}
	}
	return nil
}

// Cancel forgets a request and frees its blocks at once, also while a batch is out: its result is then ignored.
// It reports whether the request was here.
func (c *Core) Cancel(id uint64) bool {
	s := c.live[id]
	if s == nil {
		return false
	}
	if s.slot >= 0 {
		c.slots[s.slot] = nil
	}
	if s.group == nil {
		c.dequeue(s)
	} else {
		c.stop(s)
	}
	delete(c.live, id)
	return true
}

// Stats returns the present picture.
func (c *Core) Stats() Stats {
	return Stats{
		Total: c.pool.Total(), Free: c.pool.Free(), Used: c.pool.Used() - c.reserved, Reserved: c.reserved, Cached: c.pool.Cached(),
		Waiting: c.waiting.len(), Running: c.running, Preempting: c.preempted,
		Preemptions: c.totals.preemptions, Admitted: c.totals.admitted, Finished: c.totals.finished,
		CachedTokens: c.totals.cachedTokens, PromptTokens: c.totals.promptTokens,
	}
}

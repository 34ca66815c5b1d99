package core

import (
	"cmp"
	"fmt"
	"time"

	"octet/kvpool"
	"octet/scheduler"
	"octet/scheduler/queue"
)

// Config sizes a Core. The zero value of an optional field is the stated default.
type Config struct {
	Blocks      int    // KV blocks; constant for life
	BlockSize   int    // tokens a block
	MaxRunning  int    // sequences that hold blocks at once
	MaxWaiting  int    // requests that wait; preempted ones come on top
	TokenBudget int    // tokens a step computes at most; at least MaxRunning, so that every decode has its place
	ChunkTokens int    // prompt tokens of one request in one step; 0 is TokenBudget
	Seed        uint64 // of the block hashes

	MaxWaitingBytes int64   // of the prompts that wait and their hashes; 0 is 256 MiB
	Watermark       float64 // of the pool, kept free by admissions while others run; 0 is 0.02, below 0 keeps nothing
	// one batch may hold any adapters: fuller batches, but every request pays for the largest of them
	CrossAdapter bool

	Weights func(tenant string) int // of the tenants' shares within a priority; pure; nil or below 1 is 1

	// Aging lifts a waiting request by one priority for each such time, to AgingCeiling at most; 0 means no aging. So
	// from its arrival + (AgingCeiling - priority) × Aging on, a request is behind no later one of its tenant with a
	// priority up to AgingCeiling, and behind other tenants' for no more than their shares.
	Aging        time.Duration
	AgingCeiling int

	PrefillRate   float64 // tokens a second; 0 is measured
	SSMStateBytes int64   // recurrent and convolution state of one hybrid sequence: bytes a layer, whatever its length
	KVTokenBytes  int64   // attention keys and values of one token: kvpool.Geometry.BytesPerToken
	HostBytes     int64   // host memory for copies of preempted hybrid sequences; 0 computes them again
	LinkBandwidth float64 // bytes a second between device and host; 0 is 16 GB/s
}

// Defaults. Between 2 % and 5 % kept free is where engines preempt least for what it costs them in batch size.
const (
	defaultWatermark    = 0.02
	defaultWaitingBytes = 256 << 20
)

func (c Config) check() error {
	switch {
	case c.MaxRunning < 1 || c.MaxWaiting < 0:
		return fmt.Errorf("%w: %d running, %d waiting", scheduler.ErrConfig, c.MaxRunning, c.MaxWaiting)
	case c.TokenBudget < c.MaxRunning:
		return fmt.Errorf("%w: a budget of %d tokens for %d running", scheduler.ErrConfig, c.TokenBudget, c.MaxRunning)
	case c.ChunkTokens < 0 || c.ChunkTokens > c.TokenBudget:
		return fmt.Errorf("%w: chunks of %d tokens, a budget of %d", scheduler.ErrConfig, c.ChunkTokens, c.TokenBudget)
	}
	return c.checkOptions()
}

func (c Config) checkOptions() error {
	switch {
	case c.MaxWaitingBytes < 0 || c.Aging < 0:
		return fmt.Errorf("%w: %d bytes waiting, aging every %v", scheduler.ErrConfig, c.MaxWaitingBytes, c.Aging)
	case !(c.Watermark < 1) || !(c.PrefillRate >= 0) || !(c.LinkBandwidth >= 0):
		return fmt.Errorf("%w: a watermark of %v, %v tokens and %v bytes a second", scheduler.ErrConfig, c.Watermark,
			c.PrefillRate, c.LinkBandwidth)
	case c.SSMStateBytes < 0 || c.KVTokenBytes < 0 || c.HostBytes < 0:
		return fmt.Errorf("%w: %d bytes of state, %d a token, %d in the host", scheduler.ErrConfig, c.SSMStateBytes,
			c.KVTokenBytes, c.HostBytes)
	}
	return nil
}

// filled returns c with its defaults.
func (c Config) filled() Config {
	c.ChunkTokens = cmp.Or(c.ChunkTokens, c.TokenBudget)
	c.MaxWaitingBytes = cmp.Or(c.MaxWaitingBytes, defaultWaitingBytes)
	c.LinkBandwidth = cmp.Or(c.LinkBandwidth, assumedLink)
	c.Watermark = max(0, cmp.Or(c.Watermark, defaultWatermark))
	return c
}

// Core schedules the requests of one engine over one pool, step by step. Pure: no goroutines, no clock, no randomness;
// the same calls give the same answers. Not safe for concurrent use.
type Core struct {
	cfg    Config
	hasher kvpool.Hasher
	pool   *kvpool.Pool

	live    map[uint64]*sequence // waiting and running; never iterated
	waiting queue.Backlog[*sequence]
	running running

	watermark int      // blocks that admissions leave free while others run
	victims   []victim // scratch of candidates
	timing    timing
	host      hostMemory

	now     scheduler.Time // of the last Assemble
	step    uint64         // of the last batch that was assembled
	out     bool           // that batch is out
	budget  int            // tokens that this step may still compute
	items   []Item
	slots   []*sequence // of items, same positions; nil once cancelled
	outputs []Output

	events       eventLog
	drain        queue.DrainRate
	reserved     int   // blocks of running sequences beyond what is computed
	waitingBytes int64 // of those that were never preempted
	preempted    int   // waiting because their blocks were taken
	totals       totals
}

// totals only grow.
type totals struct {
	preemptions, admitted, finished uint64
	cachedTokens, promptTokens      uint64
}

// New returns an empty scheduler.
func New(cfg Config) (*Core, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	pool, err := kvpool.NewPool(cfg.Blocks, cfg.BlockSize)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", scheduler.ErrConfig, err)
	}
	cfg = cfg.filled()
	c := &Core{
		cfg: cfg, hasher: kvpool.NewHasher(cfg.Seed), pool: pool, live: make(map[uint64]*sequence),
		waiting:   queue.Backlog[*sequence]{Weight: cfg.Weights, Aging: cfg.Aging, Ceiling: cfg.AgingCeiling},
		running:   running{cross: cfg.CrossAdapter},
		watermark: int(cfg.Watermark * float64(cfg.Blocks)),
		timing:    timing{rate: cfg.PrefillRate, link: cfg.LinkBandwidth},
		host:      hostMemory{stateBytes: cfg.SSMStateBytes, tokenBytes: cfg.KVTokenBytes, budget: cfg.HostBytes},
	}
	pool.OnEvict(c.events.removed)
	return c, nil
}

// Add queues r. The answer says whether the next step would start it. O(log waiting) plus one pass over the prompt.
//
// A request whose prompt and answer together exceed the pool is refused: whatever is accepted can run to its end alone.
func (c *Core) Add(r Request, now scheduler.Time) (scheduler.Answer, error) {
	if err := c.accept(&r, now); err != nil {
		return scheduler.Answer{}, err
	}
	s := &sequence{
		Entry: queue.NewEntry[*sequence](queue.Rank{Priority: r.Priority, Arrival: r.Arrival, ID: r.ID}, r.Tenant),
		req:   r, prompt: len(r.Tokens),
		tokens: r.Tokens, slot: -1,
	}
	if !r.Hybrid {
		s.chain = c.hasher.Chain(make([]kvpool.BlockHash, 0, len(r.Tokens)/c.cfg.BlockSize), r.Root, r.Tokens,
			c.cfg.BlockSize)
	}
	c.live[r.ID] = s
	c.waitingBytes += r.bytes(c.cfg.BlockSize)
	c.waiting.Push(s, now)
	if c.waiting.Top() == s && c.fits(s) {
		return scheduler.Answer{State: scheduler.Admitted}, nil
	}
	return scheduler.Answer{State: scheduler.Waiting, Estimate: c.drain.RetryAfter(c.waiting.Ahead(r.Priority), now)},
		nil
}

// accept returns ErrInvalid or the Refusal for which r may not wait.
func (c *Core) accept(r *Request, now scheduler.Time) error {
	switch {
	case len(r.Tokens) == 0 || r.MaxNew < 1 || r.Draft < 0:
		return fmt.Errorf("%w: %d of %d tokens, %d new, draft of %d", scheduler.ErrInvalid, r.ID, len(r.Tokens),
			r.MaxNew,
			r.Draft)
	case r.Hybrid && c.cfg.SSMStateBytes == 0:
		return fmt.Errorf("%w: %d is a hybrid, and here nothing has state", scheduler.ErrInvalid, r.ID)
	case c.live[r.ID] != nil:
		return fmt.Errorf("%w: %d is already here", scheduler.ErrInvalid, r.ID)
	}
	if r.MaxNew > c.cfg.Blocks*c.cfg.BlockSize-len(r.Tokens) {
		return &scheduler.Refusal{Reason: scheduler.ErrExceedsPool,
			Detail: fmt.Sprintf("%d prompt and %d new tokens, %d blocks of %d",
				len(r.Tokens), r.MaxNew, c.cfg.Blocks, c.cfg.BlockSize)}
	}
	if r.Deadline != 0 && r.Deadline <= now {
		return &scheduler.Refusal{Reason: scheduler.ErrDeadline, Detail: fmt.Sprintf("%v ago", now-r.Deadline)}
	}
	if fresh := c.waiting.Len() - c.preempted; fresh >= c.cfg.MaxWaiting {
		return &scheduler.Refusal{Reason: scheduler.ErrQueueFull, RetryAfter: c.drain.RetryAfter(1, now),
			Detail: fmt.Sprintf("%d are waiting", fresh)}
	}
	if bytes := r.bytes(c.cfg.BlockSize); bytes > c.cfg.MaxWaitingBytes-c.waitingBytes {
		return &scheduler.Refusal{Reason: scheduler.ErrQueueFull, RetryAfter: c.drain.RetryAfter(1, now),
			Detail: fmt.Sprintf("%d bytes are waiting, %d more are too many", c.waitingBytes, bytes)}
	}
	return nil
}

// Cancel forgets a request and frees its blocks at once, also while a batch is out: its result is then ignored. It
// returns true if the request was here.
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
	c.host.discard(s)
	delete(c.live, id)
	return true
}

// Stats returns the present picture.
func (c *Core) Stats() scheduler.Stats {
	return scheduler.Stats{
		Total: c.pool.Total(), Free: c.pool.Free(), Used: c.pool.Used() - c.reserved, Reserved: c.reserved,
		Cached:  c.pool.Cached(),
		Waiting: c.waiting.Len(), Running: c.running.count, Preempting: c.preempted,
		Preemptions: c.totals.preemptions, Admitted: c.totals.admitted, Finished: c.totals.finished,
		CachedTokens: c.totals.cachedTokens, PromptTokens: c.totals.promptTokens,
		Snapshots: c.host.taken, Restores: c.host.restores, HostBytes: c.host.used, WaitingBytes: c.waitingBytes,
	}
}

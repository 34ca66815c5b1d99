package gate

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"octet/kvpool"
	"octet/scheduler"
	"octet/scheduler/queue"
)

// Config sizes a Gate after the engine behind it.
type Config struct {
	Blocks     int              // of the engine's pool; 0 is unknown: only running requests are counted then
	BlockSize  int              // tokens a block; ignored when Blocks is 0
	MaxRunning int              // sequences in the engine at once; a request of more runs alone
	MaxWaiting int              // requests in the queue; 0 lets nobody wait
	MaxWait    time.Duration    // in the queue; 0 is as long as ctx and deadlines allow
	Now        func() time.Time // required
	Jitter     func() float64   // in [0,1): spreads Retry-After; nil spreads nothing

	Weights func(tenant string) int // of the tenants' shares within a priority; nil or below 1 is 1

	// Aging lifts who waits by one priority for each such time, to AgingCeiling at most; 0 is none. So from its arrival
	// + (AgingCeiling - priority) × Aging on, a request is behind nobody of its tenant who came later with a priority
	// up to AgingCeiling, and behind other tenants' for no more than their shares. It takes nobody's place in the
	// engine by that, but once it runs it gives way only to who is more urgent than that.
	Aging        time.Duration
	AgingCeiling int

	// Promised returns how many are expected back that were sent away and are at least as urgent as priority; nil is
	// nobody. While there are any, the last of what there is to wait in is kept for those who return: a quarter at
	// most. It is called under the Gate's lock.
	Promised func(priority int, now time.Time) float64

	// Redo bounds what preemption has the engine compute again, to a share of its time; 0 is no bound. Beyond it who is
	// more urgent waits for the next place that comes free by itself, unless that would be too late for its deadline.
	Redo float64
}

// Request is what a Gate must know to admit.
type Request struct {
	ID           string             // for people
	Priority     int                // larger is more urgent
	Chain        []kvpool.BlockHash // read while it is asked only: the Gate keeps a copy
	PromptTokens int                // of the first prompt
	Further      Further            // the further prompts of a list
	N            int                // sequences that are generated from each prompt; 0 is one
	MaxNew       int                // tokens of a sequence at most, those of Resume included; 0 is not stated
	Deadline     time.Time          // of the whole answer; zero is none
	TTFTDeadline time.Time          // of the first token; zero is none
	Adapter      string
	Tenant       string
	// speculative window, tokens; 0 is none. Without room for all of it the request runs unspeculated
	Draft     int
	OfferBack bool // another specialist may answer it: a long wait is offered back as a Refusal that is Offered
	Resume    int  // tokens already generated, replayed behind the prompt
	Victim    bool // may be preempted
	// neither waits nor has anybody give way: what cannot start at once is refused, and was not offered
	AtOnce  bool
	Whole   bool      // its answer comes at once, so that nobody will say when its prefill was over
	Arrived time.Time // its place among equals; zero is now. A resumed request brings its first one
	Returns bool      // it was sent away, and comes in the time that it was told
	Paid    bool      // it ran before: its tenant's share has paid for it
	Watcher Watcher   // told like the one of Ticket.Watch, from the first moment on; nil is nobody
	Now     time.Time // what the Gate's clock says, where the caller has looked; zero is that the Gate looks
}

// check panics on counts that no request has: wherever they come from, they were checked before.
func (r *Request) check() {
	o := &r.Further
	if min(r.PromptTokens, r.MaxNew, r.Resume, r.Draft, r.N, o.Prompts, o.Tokens, o.Blocks, o.Tail) < 0 {
		panic(
			fmt.Sprintf(
				"scheduler: %s of %d prompt, %d new, %d resumed and %d drafted tokens, %d sequences each, and %+v",
				r.ID, r.PromptTokens, r.MaxNew, r.Resume, r.Draft, r.N, *o))
	}
}

// Gate admits requests to an engine that batches itself. It models the engine's pool, prefix cache included, and lets
// in what the model says will fit. Safe for concurrent use.
//
// Every method is one short critical section. Nobody waits under the lock: a waiter sleeps on a channel of its own, and
// whoever makes room wakes those whom it admits and no other.
type Gate struct {
	preempts atomic.Bool // whether anybody is owed blocks or was told to give way, for who asks without the lock

	gateMu sync.Mutex // guards all below, and every Ticket's and waiter's state

	// Every request reads these, or writes them: they lie side by side.
	latest     scheduler.Time // that anything happened at
	arrivals   uint64
	offered    uint64 // requests that were asked for, those that resume left out
	pool       *kvpool.Pool
	tickets    []*Ticket // the running, in no order; a ticket knows its index
	sequences  int       // of all of them
	maxRunning int
	lowest     int // nobody who runs, may be preempted and was not told to give way has a priority below it
	owed       int // blocks, over all debtors
	reserved   int // blocks that running tickets hold beyond what is computed
	filling    int // tokens of prompts whose first token is awaited
	bound      int // of the running: who has a deadline
	crowd      crowd
	debtors    []*Ticket // of the running: who is owed blocks, oldest debt first; then nothing is free
	tables     tables
	chains     chains
	blanks     []Ticket // for the next
	totals     gateTotals
	// the head of the queue may fit by now although nobody left: a deadline's slack changes with every token and moment
	held    bool
	waiting queue.Backlog[*waiter]
	thrift  thrift
	rates   rates

	now        func() time.Time
	jitter     func() float64
	promised   func(priority int, now time.Time) float64
	origin     time.Time // of every Time above
	maxWaiting int
	maxWait    time.Duration
	// the waiting again, last first: who goes when the queue is full. Those who resume are not in it
	leaving     queue.Heap[leaver]
	priced      []concession // scratch of candidates
	yielding    []*Ticket    // of the running: who was told to give way
	forecast    forecast
	calibration calibration
}

// New returns an open gate before an idle engine.
func New(cfg Config) (*Gate, error) {
	if cfg.Now == nil {
		return nil, fmt.Errorf("%w: a gate needs a clock", scheduler.ErrConfig)
	}
	if cfg.Blocks < 0 || !cfg.bounded() {
		return nil, fmt.Errorf(
			"%w: %d blocks, %d running, %d waiting for %v, aging every %v, %v of the time for work done again",
			scheduler.ErrConfig, cfg.Blocks, cfg.MaxRunning, cfg.MaxWaiting, cfg.MaxWait, cfg.Aging, cfg.Redo)
	}
	g := &Gate{
		now: cfg.Now, jitter: cfg.Jitter, promised: cfg.Promised, origin: cfg.Now(),
		maxRunning: cfg.MaxRunning, maxWaiting: cfg.MaxWaiting, maxWait: cfg.MaxWait, lowest: math.MaxInt,
		waiting: queue.Backlog[*waiter]{Weight: cfg.Weights, Aging: cfg.Aging, Ceiling: cfg.AgingCeiling},
	}
	g.thrift.allow(cfg.Redo, 0)
	if cfg.Blocks > 0 {
		pool, err := kvpool.NewPool(cfg.Blocks, cfg.BlockSize)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", scheduler.ErrConfig, err)
		}
		g.pool = pool
	}
	return g, nil
}

// bounded reports whether the bounds, which may change, are possible.
func (c *Config) bounded() bool {
	return c.MaxRunning >= 1 && c.MaxWaiting >= 0 && c.MaxWait >= 0 && c.Aging >= 0 && c.Redo >= 0 && c.Redo <= 1
}

// Admit returns a ticket when r may run: its prompt and one step fit, its deadline can be met, and nobody in the engine
// is pushed past its own. Where one of these fails, this is tried, in this order:
//
//  1. Strictly less urgent ones give way, if r then starts; beyond the share of Redo only where r's deadline is lost
//     otherwise.
//  2. It waits its turn, by priority, then by its tenant's share, then by arrival: if the queue has a place, or
//     somebody strictly less urgent in it who leaves for r, and the wait is within bounds.
//  3. A long wait is offered back where r could go elsewhere.
//  4. It is refused, with the time after which its like has a place.
//
// Of these a request AtOnce is left with the last.
//
// It returns a *Refusal when r may not even wait, when it has waited too long, when somebody more urgent needed its
// place in the queue, or when its deadline cannot be met; ctx's error when ctx ends first.
func (g *Gate) Admit(ctx context.Context, r Request) (*Ticket, error) {
	t, w, err := g.Ask(ctx, &r)
	if w != nil {
		return w.Await(ctx)
	}
	return t, err
}

// Ask is Admit up to where r waits. Then there is a Wait, which must be awaited, and neither a ticket nor an error.
func (g *Gate) Ask(ctx context.Context, r *Request) (*Ticket, *Wait, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	r.check()
	t, w, err := g.ask(r)
	if w != nil {
		return nil, (*Wait)(w), nil
	}
	return t, nil, err
}

// ask settles r at once, or queues it: then the waiter is not nil.
func (g *Gate) ask(r *Request) (*Ticket, *waiter, error) {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	now := g.moment(r.Now)
	g.letInHeld(now)
	place := g.rank(r, now)
	head, fits, late := g.atOnce(r, place, now)
	starts := fits && !late
	if r.Resume == 0 && (!r.AtOnce || starts) {
		g.offered++
	}
	if starts {
		place.Priority = g.waiting.Level(place, now)
		return g.pass(r, place, now), nil, nil
	}
	if answer := g.otherwise(r, place, head, fits, now); answer.State == scheduler.Refused {
		return nil, nil, g.refusal(r, answer, now)
	}
	g.displace(place, now)
	return nil, g.enqueue(r, place, now), nil
}

// Probe returns what Admit would say now, and changes nothing.
func (g *Gate) Probe(r Request) scheduler.Answer {
	r.check()
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	now := g.elapsed()
	arrivals := g.arrivals
	answer := g.answer(&r, g.rank(&r, now), now)
	g.arrivals = arrivals
	return answer
}

// Reconfigure changes the bounds: of cfg count MaxRunning, MaxWaiting, MaxWait, Aging and Redo. Those who run or wait
// already keep what they have; who fits now is let in. It panics on bounds that New would refuse.
func (g *Gate) Reconfigure(cfg Config) {
	if !cfg.bounded() {
		panic(
			fmt.Sprintf(
				"scheduler: reconfiguring to %d running, %d waiting for %v, aging every %v, %v of the time for work "+
					"done again",
				cfg.MaxRunning, cfg.MaxWaiting, cfg.MaxWait, cfg.Aging, cfg.Redo))
	}
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	g.maxRunning, g.maxWaiting, g.maxWait = cfg.MaxRunning, cfg.MaxWaiting, cfg.MaxWait
	g.waiting.SetAging(cfg.Aging)
	now := g.elapsed()
	g.thrift.allow(cfg.Redo, now)
	g.letIn(now)
}

// Stats returns the present picture. Without a pool the block counts are 0.
func (g *Gate) Stats() scheduler.Stats {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	s := scheduler.Stats{
		Waiting: g.waiting.Len(), Running: len(g.tickets), Preempting: g.preempting(), Reserved: g.reserved,
		Preemptions: g.totals.preemptions, Admitted: g.totals.admitted, Finished: g.totals.finished,
		CachedTokens: g.totals.cachedTokens, PromptTokens: g.totals.promptTokens,
	}
	if g.pool != nil {
		s.Total, s.Free, s.Cached = g.pool.Total(), g.pool.Free(), g.pool.Cached()
		withheld := g.calibration.withheld.Len()
		s.Used, s.Reserved = g.pool.Used()-g.reserved-withheld, g.reserved+withheld
	}
	return s
}

// Preempting reports whether anybody in the engine has to give way or is owed blocks. It takes no lock.
func (g *Gate) Preempting() bool { return g.preempts.Load() }

// pressed brings Preempting to now. Caller holds gateMu, and has changed who is owed blocks or was told to give way.
func (g *Gate) pressed() {
	if now := len(g.yielding)+len(g.debtors) > 0; now != g.preempts.Load() {
		g.preempts.Store(now)
	}
}

// preempting counts who is owed blocks or was told to give way.
func (g *Gate) preempting() int {
	n := len(g.yielding)
	for _, t := range g.debtors {
		if !t.yielding {
			n++
		}
	}
	return n
}

func (g *Gate) elapsed() scheduler.Time { return g.moment(g.now()) }

// moment returns the Time of a reading of the clock; a zero one is made now. It never goes back: whoever looked earlier
// may come later. Caller holds gateMu.
func (g *Gate) moment(at time.Time) scheduler.Time {
	if at.IsZero() {
		at = g.now()
	}
	g.latest = max(g.latest, at.Sub(g.origin))
	return g.latest
}

// rank places r among the waiting.
func (g *Gate) rank(r *Request, now scheduler.Time) queue.Rank {
	arrival := now
	if !r.Arrived.IsZero() {
		arrival = r.Arrived.Sub(g.origin)
	}
	g.arrivals++
	return queue.Rank{Priority: r.Priority, Arrival: arrival, ID: g.arrivals}
}

// gateTotals only grow.
type gateTotals struct {
	preemptions, admitted, finished uint64
	cachedTokens, promptTokens      uint64
}

package gate

import (
	"slices"
	"sync/atomic"
	"time"

	"octet/kvpool"
	"octet/scheduler"
	"octet/scheduler/queue"
)

// Ticket is one request's place in the engine. Every method may be called from any goroutine, and after Release does
// nothing.
type Ticket struct {
	gate     *Gate
	rank     queue.Rank // its priority is what age had made of it when it started
	shape    shape
	maxNew   int            // tokens of a sequence; 0 is not stated
	deadline scheduler.Time // maxTime is none
	reused   int
	uncached int // tokens of the prompt and of Resume that were not
	others   int // tokens of other prompts that were to be prefilled when it was admitted
	waited   time.Duration
	admitted scheduler.Time
	tenant   string
	paid     int         // what its tenant was charged for it at the start; 0 is nothing
	step     int         // tokens that one step may add to a sequence: 1, and the draft where it is speculated
	whole    bool        // its answer comes at once
	yielded  atomic.Bool // as yielding, for who asks without the lock

	// guarded by gate.gateMu
	id     string             // of its request, for people, while it runs
	chain  []kvpool.BlockHash // of its prompt, while it runs: what others may share. A copy in the gate's own memory
	giveUp chan struct{}      // closed when it has to give way; nil until somebody asks for it
	watch  Watcher            // told when it has to give way; nil is nobody
	table  *kvpool.Table      // nil without a pool, and after its end
	// tokens of the first prompt, and behind it, that the engine holds by now, as far as the model knows
	computed  int
	filled    int            // blocks that are computed, likewise, of all sequences
	generated int            // tokens of all sequences, those of Resume included
	owed      int            // blocks that it should hold and does not
	first     scheduler.Time // when the first token came; 0 is not yet
	told      scheduler.Time // when generated was last told
	crowd     float64        // gate.crowd then
	begun     int            // generated with the first token; 0 before
	estimate  float64        // pace that was estimated then, ns a token
	mayYield  bool           // may be preempted
	filling   bool           // uncached counts in gate.filling
	yielding  bool
	outdated  bool // the engine's cache was cleared while it ran
	away      bool // thought away, while it is asked for whom it could make room
	released  bool
	index     int // in gate.tickets
}

// victim reports whether t may be told to give way. Caller holds gateMu.
func (t *Ticket) victim() bool { return t.mayYield && !t.yielding }

// start makes r run; it fits. Caller holds gateMu.
func (g *Gate) start(r *Request, place queue.Rank, queued, now scheduler.Time) *Ticket {
	t := g.blank()
	t.gate, t.id, t.rank, t.waited, t.admitted, t.tenant = g, r.ID, place, now-queued, now, r.Tenant
	t.shape, t.generated, t.maxNew, t.step, t.whole = r.shape(), r.Resume, r.MaxNew, g.stepOf(r), r.Whole
	t.others, t.mayYield, t.deadline, t.watch = g.filling, r.Victim, maxTime, r.Watcher
	if !r.Deadline.IsZero() {
		t.deadline = r.Deadline.Sub(g.origin)
	}
	if g.pool != nil {
		n := g.holds(r, t.step)
		t.table, t.chain = g.tables.take(), g.chains.copy(g.reusable(r))
		t.table.Reserve(n)
		t.reused = g.pool.Share(t.table, t.chain)
		g.pool.Extend(t.table, n)
		t.computed, t.filled = t.reused*g.pool.BlockSize(), t.reused
		g.reserved += t.ahead()
		g.totals.cachedTokens += uint64(t.computed)
	}
	if t.uncached = g.uncached(r, t.reused); !t.whole {
		t.filling = true
		g.filling += t.uncached
	}
	g.came(t, now)
	g.totals.admitted++
	g.totals.promptTokens += uint64(t.shape.tokens())
	return t
}

// blank returns a new ticket: one of sixteen that are made at a time, for a quarter of the work; one that is held on to
// keeps them all in memory, but nothing that they pointed to. None is used twice: a preemption may still be told to its
// holder. Caller holds gateMu.
func (g *Gate) blank() *Ticket {
	if len(g.blanks) == 0 {
		g.blanks = make([]Ticket, 16)
	}
	t := &g.blanks[0]
	g.blanks = g.blanks[1:]
	return t
}

// came counts t among the running. Caller holds gateMu.
func (g *Gate) came(t *Ticket, now scheduler.Time) {
	t.index = len(g.tickets)
	g.tickets = append(g.tickets, t)
	if t.mayYield {
		g.lowest = min(g.lowest, t.rank.Priority)
	}
	if t.deadline != maxTime {
		g.bound++
	}
	g.sequences += t.shape.sequences()
	g.crowd.tick(now, g.sequences)
	g.forecast.fresh = false
}

// Speculative reports whether t was admitted with room for its whole draft window. Where not it must run unspeculated.
func (t *Ticket) Speculative() bool { return t.step > 1 }

// Reused returns how many blocks of the prompt the model found in the prefix cache.
func (t *Ticket) Reused() int { return t.reused }

// Waited returns the time in the queue.
func (t *Ticket) Waited() time.Duration { return t.waited }

// FirstToken says that the prefill is over: the prompt's blocks can be shared from now on, and the time it took feeds
// the rates. Idempotent.
func (t *Ticket) FirstToken() {
	g := t.gate
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	if t.released || t.first != 0 {
		return
	}
	now := g.elapsed()
	t.prefilled(now)
	g.letIn(now) // the head may share what was just computed
}

// prefilled settles the prompt, measures how long it took, and begins to measure the pace. Caller holds gateMu.
func (t *Ticket) prefilled(now scheduler.Time) {
	g := t.gate
	t.estimate = g.rates.pace.level(float64(g.sequences))
	took := float64(now - t.admitted)
	judge(&g.rates.prefillError, float64(t.prefillTime()), took)
	g.rates.prefill.observe(float64(t.uncached), float64(t.others), took)
	t.settlePrompt(now)
}

// settlePrompt has the prompt's blocks computed, and ready to be shared. Caller holds gateMu.
func (t *Ticket) settlePrompt(now scheduler.Time) {
	t.begin(now)
	t.told, t.crowd, t.begun = now, t.gate.crowd.until(now), t.generated+1
	if t.gate.pool != nil {
		t.compute()
	}
}

// begin notes the first token, and has the prompt's blocks ready to be shared. Caller holds gateMu.
func (t *Ticket) begin(now scheduler.Time) {
	t.awaited()
	t.first = max(now, 1)
	for i := t.reused; i < len(t.chain); i++ { // without a pool there is none
		t.gate.pool.Seal(t.table, i, t.chain[i])
	}
}

// awaited says that t's prefill keeps nobody waiting any more. Caller holds gateMu.
func (t *Ticket) awaited() {
	if t.filling {
		t.gate.filling -= t.uncached
		t.filling = false
	}
}

// blocks returns what t holds when it has generated so many tokens and each sequence may have so many more. There must
// be a pool.
func (t *Ticket) blocks(generated, more int) int {
	return t.shape.blocks(t.gate.pool, t.shape.each(generated)+more)
}

// compute notes that the prompts and what is generated are in the engine. Caller holds gateMu.
func (t *Ticket) compute() {
	t.gate.reserved -= t.ahead()
	t.computed = max(t.computed, t.shape.prompt+t.shape.each(t.generated))
	t.filled = max(t.filled, t.blocks(t.generated, 0))
	t.gate.reserved += t.ahead()
}

// ahead returns the blocks held beyond what is computed; none while in debt.
func (t *Ticket) ahead() int {
	return max(0, t.table.Len()-t.filled)
}

// Grow says how many tokens were generated so far, by all sequences together, those of Resume included. Meant for block
// boundaries, where the engine takes another block; it never waits. Where the model has none left the ticket is in debt
// until somebody leaves.
func (t *Ticket) Grow(tokens int) {
	g := t.gate
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	if t.released || tokens <= t.generated {
		return
	}
	now := g.elapsed()
	if t.first == 0 {
		t.prefilled(now)
		g.held = true // the head may share what was just computed
	}
	if came := tokens - max(t.generated, t.begun); came > 0 && now > t.told {
		t.sped(came, now)
	}
	t.generated = tokens
	if g.pool != nil {
		t.compute()
		t.claim(t.blocks(tokens, t.step))
	}
	g.letInHeld(now)
}

// Release gives the place back: its blocks pay debts first, then the next in the queue are let in. Idempotent.
// A prompt whose first token never came leaves nothing in the modelled cache.
func (t *Ticket) Release() {
	g := t.gate
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	if t.released {
		return
	}
	t.end(g.elapsed())
}

// end is Release. Caller holds gateMu.
func (t *Ticket) end(now scheduler.Time) {
	t.leave(now)
	if !t.yielding {
		t.settled(now)
	}
	t.gate.payDebts()
	t.gate.letIn(now)
}

// settled has the rates learn from t, which came to its end. Caller holds gateMu.
func (t *Ticket) settled(now scheduler.Time) {
	g := t.gate
	g.totals.finished++
	g.rates.drain.Mark(now)
	t.settleCost()
	if t.first == 0 {
		return
	}
	t.judged()
	g.rates.length.observe(float64(t.shape.each(t.generated)))
	g.rates.service.observe(float64(now - t.admitted))
}

// leave takes t out of everything that the gate keeps. Caller holds gateMu.
func (t *Ticket) leave(now scheduler.Time) {
	g := t.gate
	t.released, t.watch, t.id = true, nil, ""
	last := len(g.tickets) - 1
	g.tickets[t.index] = g.tickets[last]
	g.tickets[t.index].index = t.index
	g.tickets[last] = nil
	g.tickets = g.tickets[:last]
	if t.deadline != maxTime {
		g.bound--
	}
	g.sequences -= t.shape.sequences()
	g.crowd.tick(now, g.sequences)
	g.forecast.fresh = false
	t.awaited()
	if t.yielding {
		g.yielding = without(g.yielding, t)
		g.pressed()
	}
	if t.owed > 0 {
		g.owed -= t.owed
		t.owed = 0
		g.debtors = without(g.debtors, t)
		g.pressed()
	}
	if g.pool != nil {
		g.reserved -= t.ahead()
		g.pool.Release(t.table)
		if t.outdated {
			g.forget()
		}
		g.tables.keep(t.table)
		g.chains.keep(t.chain)
		t.table, t.chain = nil, nil
	}
}

func without(list []*Ticket, t *Ticket) []*Ticket {
	i := slices.Index(list, t)
	return slices.Delete(list, i, i+1)
}

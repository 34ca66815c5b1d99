package gate

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"octet/scheduler"
)

// Gate admits requests to an engine that batches itself. It models the engine's pool, prefix cache included, and lets
// in what the model says will fit. Safe for concurrent use.
//
// Every method is one short critical section. No request waits under the lock: each sleeps on a channel of its own, and
// whatever makes room wakes those that it admits and no other.
type Gate struct {
	preempting atomic.Bool // as Model.Preempting, for callers without the lock
	now        func() time.Time
	origin     time.Time

	gateMu sync.Mutex // guards all below, and every Lease and Waiter
	model  *Model
	latest scheduler.Time // of the clock
	blanks []Ticket       // zero: none is used twice, as a preemption may still be told to its holder
}

// New returns an open gate before an idle engine.
func New(cfg Config) (*Gate, error) {
	if cfg.Now == nil {
		return nil, fmt.Errorf("%w: a gate needs a clock", scheduler.ErrConfig)
	}
	origin := cfg.Now()
	model, err := NewModel(cfg, origin)
	if err != nil {
		return nil, err
	}
	return &Gate{now: cfg.Now, origin: origin, model: model}, nil
}

// lock takes the lock and returns the time of a reading of the clock; a zero one is made now. It never goes back: a
// caller that looked earlier may come later.
func (g *Gate) lock(at time.Time) scheduler.Time {
	g.gateMu.Lock()
	if at.IsZero() {
		at = g.now()
	}
	g.latest = max(g.latest, at.Sub(g.origin))
	return g.latest
}

// unlock wakes the waiters that were settled, tells the tickets that have to give way, and releases the lock.
func (g *Gate) unlock() {
	settled, told := g.model.Effects()
	for i, w := range settled {
		close(w.wait.settled)
		settled[i] = nil
	}
	for i, l := range told {
		if l.watcher != nil {
			go l.watcher.Preempted()
		}
		told[i] = nil
	}
	if now := g.model.Preempting(); now != g.preempting.Load() {
		g.preempting.Store(now)
	}
	g.gateMu.Unlock()
}

// Admit returns a ticket when r may run: its prompt and one step fit, its deadline can be met, and no running request
// is pushed past its own. If one of these fails, this is tried, in this order:
//
//  1. Strictly less urgent requests give way, if r then starts; beyond the share of Redo only if r's deadline is lost
//     otherwise.
//  2. It waits its turn, by priority, then by its tenant's share, then by arrival: if the queue has a place, or a
//     strictly less urgent request in it that leaves for r, and the wait is within bounds.
//  3. A long wait is offered back if r can be answered elsewhere.
//  4. It is refused, with the time after which its like has a place.
//
// Of these a request AtOnce is left with the last.
//
// It returns a *scheduler.Refusal when r may not even wait, when it has waited too long, when a more urgent request
// needed its place in the queue, or when its deadline cannot be met; ctx's error when ctx ends first.
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
	now := g.lock(r.Now)
	defer g.unlock()
	if len(g.blanks) == 0 { // sixteen are made at a time, for a quarter of the work
		g.blanks = make([]Ticket, 16)
	}
	t := &g.blanks[0]
	t.gate = g
	state, err := g.model.Ask(r, &t.lease, now)
	if state == scheduler.Refused {
		return nil, nil, err
	}
	g.blanks = g.blanks[1:]
	if state == scheduler.Admitted {
		return t, nil, nil
	}
	w := &Wait{ticket: t, settled: make(chan struct{})}
	w.waiter.wait = w
	g.model.Queue(&w.waiter, r, &t.lease, now)
	return nil, w, nil
}

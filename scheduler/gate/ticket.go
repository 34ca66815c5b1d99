package gate

import (
	"context"
	"time"
)

// Ticket is one request's place in the engine. Every method may be called from any goroutine, and after Release does
// nothing.
type Ticket struct {
	gate  *Gate
	lease Lease // guarded by gate.gateMu
}

// Reused returns how many blocks of the prompt the model found in the prefix cache.
func (t *Ticket) Reused() int { return t.lease.Reused() }

// Speculative reports whether t's whole draft window has its blocks. Else one token a step has, or, without a modelled
// pool, nothing: whether the engine drafts nevertheless is its own affair.
func (t *Ticket) Speculative() bool {
	return t.lease.step > 1 && t.gate.model.engine.ledger.pool != nil
}

// Waited returns the time in the queue.
func (t *Ticket) Waited() time.Duration { return t.lease.Waited() }

// FirstToken says that the prefill is over: the prompt's blocks can be shared from now on, and the time it took feeds
// the rates. Idempotent.
func (t *Ticket) FirstToken() {
	now := t.gate.lock(time.Time{})
	defer t.gate.unlock()
	t.gate.model.FirstToken(&t.lease, now)
}

// Grow says how many tokens were generated so far, by all sequences together, those of Resume included. Meant for block
// boundaries, where the engine takes another block; it never waits. If the model has no block left the ticket is
// overcommitted until another one ends.
func (t *Ticket) Grow(tokens int) {
	now := t.gate.lock(time.Time{})
	defer t.gate.unlock()
	t.gate.model.Grow(&t.lease, tokens, now)
}

// Cached says how many tokens of the prompt the engine says it had cached: it corrects the model of its prefix cache.
func (t *Ticket) Cached(tokens int) {
	t.gate.gateMu.Lock()
	defer t.gate.gateMu.Unlock()
	t.gate.model.Cached(&t.lease, tokens)
}

// Pin ends t's being a victim: from its return on the place cannot be taken. It returns false if t was told to give way
// before.
func (t *Ticket) Pin() bool {
	t.gate.gateMu.Lock()
	defer t.gate.gateMu.Unlock()
	return t.gate.model.Pin(&t.lease)
}

// Yielding reports whether a more urgent request needs the place: cancel upstream, Release, and Admit again with Resume
// and the first Arrived. It is never true for a request that is no Victim.
func (t *Ticket) Yielding() bool {
	t.gate.gateMu.Lock()
	defer t.gate.gateMu.Unlock()
	return t.lease.yielding
}

// Watch has w told, by a goroutine of its own, when t has to give way, or at once if it has to already; until the next
// Watch. A nil w ends the watch: it may still be hearing of it then, but is not told any more.
func (t *Ticket) Watch(w Watcher) {
	t.gate.gateMu.Lock()
	defer t.gate.gateMu.Unlock()
	t.lease.watcher = w
	if w != nil && t.lease.yielding {
		go w.Preempted()
	}
}

// Complete is for an answer that came at once, tokens of it, those of Resume included: it pins t, notes what FirstToken
// and Grow say of blocks, but not of time, and what Cached says, and releases t, with nothing in between. cached below
// 0 is not known, and zero now is what the Gate's clock says. It returns false, and nothing has changed, if t was told
// to give way before.
func (t *Ticket) Complete(tokens, cached int, now time.Time) bool {
	at := t.gate.lock(now)
	defer t.gate.unlock()
	return t.gate.model.Complete(&t.lease, tokens, cached, at)
}

// Release gives the place back: its blocks cover what is overcommitted first, then the next in the queue are admitted.
// Idempotent. A prompt whose first token never came leaves nothing in the modelled cache.
func (t *Ticket) Release() {
	now := t.gate.lock(time.Time{})
	defer t.gate.unlock()
	t.gate.model.Release(&t.lease, now)
}

// Wait is a request's place in the queue.
type Wait struct {
	waiter  Waiter // guarded by the Gate's lock
	ticket  *Ticket
	settled chan struct{} // closed when waiter is settled
}

// Await returns what Admit does, once. The place is given up when ctx ends.
func (w *Wait) Await(ctx context.Context) (*Ticket, error) {
	g := w.ticket.gate
	var expired <-chan time.Time
	if at, ok := w.waiter.Expires(); ok {
		timer := time.NewTimer(at - w.waiter.queued) //nolint:forbidigo // the shell's own clock: the Model has none
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-w.settled:
	case <-expired:
		now := g.lock(time.Time{})
		g.model.Expire(&w.waiter, now)
		g.unlock()
	case <-ctx.Done():
		now := g.lock(time.Time{})
		g.model.Abandon(&w.waiter, now)
		g.unlock()
		return nil, ctx.Err()
	}
	if no := w.waiter.Refusal(); no != nil {
		return nil, no
	}
	return w.ticket, nil
}

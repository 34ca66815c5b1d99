package gate

import (
	"context"
	"math"
	"slices"
	"time"

	"octet/scheduler"
	"octet/scheduler/queue"
)

// waiter is one request in a Gate's queue.
type waiter struct {
	queue.Entry[*waiter]
	gate    *Gate
	req     Request
	queued  scheduler.Time
	expires scheduler.Time // its last moment in the queue; maxTime is none
	tail    int            // in gate.leaving; -1 is not there

	settled chan struct{} // closed when ticket or refused is set
	ticket  *Ticket
	refused *scheduler.Refusal
}

const maxTime = scheduler.Time(math.MaxInt64)

// Wait is a request's place in the queue.
type Wait waiter

// Await returns what Admit does, once. The place is given up when ctx ends.
func (w *Wait) Await(ctx context.Context) (*Ticket, error) { return w.gate.await(ctx, (*waiter)(w)) }

// gone reports whether w is settled.
func (w *waiter) gone() bool { return !w.Queued() }

// enqueue puts r in the queue and, where it is the head now, has others make room for it. Caller holds gateMu.
func (g *Gate) enqueue(r *Request, place queue.Rank, now scheduler.Time) *waiter {
	w := &waiter{Entry: queue.NewEntry[*waiter](place, r.Tenant), gate: g, req: *r, queued: now, expires: g.expiry(r, now),
		tail: -1, settled: make(chan struct{})}
	w.req.Chain = slices.Clone(r.Chain)
	g.waiting.Push(w, now)
	if r.Resume == 0 {
		g.leaving.Push(place.Reversed(), leaver{w})
	}
	if g.waiting.Top() == w {
		g.hold(w, now)
	}
	return w
}

// expiry returns when waiting becomes pointless: the queue's bound or a deadline, whichever is first.
func (g *Gate) expiry(r *Request, now scheduler.Time) scheduler.Time {
	at := maxTime
	if g.maxWait > 0 && g.maxWait < maxTime-now {
		at = now + g.maxWait
	}
	if d := g.deadline(r); d < at {
		at = d
	}
	return at
}

// deadline returns the earliest deadline that passing in the queue breaks; maxTime is none.
func (g *Gate) deadline(r *Request) scheduler.Time {
	at := maxTime
	if !r.Deadline.IsZero() {
		at = r.Deadline.Sub(g.origin)
	}
	if !r.TTFTDeadline.IsZero() && r.Resume == 0 {
		at = min(at, r.TTFTDeadline.Sub(g.origin))
	}
	return at
}

// await sleeps until w is settled, expires, or ctx ends.
func (g *Gate) await(ctx context.Context, w *waiter) (*Ticket, error) {
	var expired <-chan time.Time
	if w.expires != maxTime {
		timer := time.NewTimer(w.expires - w.queued)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-w.settled:
	case <-expired:
		g.expire(w)
	case <-ctx.Done():
		g.abandon(w)
		return nil, ctx.Err()
	}
	if w.refused != nil {
		return nil, w.refused
	}
	return w.ticket, nil
}

// expire refuses w, unless it was settled meanwhile.
func (g *Gate) expire(w *waiter) {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	if w.gone() {
		return
	}
	now := g.elapsed()
	g.refuse(w, g.missed(w, now), now)
	g.letIn(now) // a new head may fit where w did not
}

// missed says what w, whose time is over, was missing.
func (g *Gate) missed(w *waiter, now scheduler.Time) error {
	switch {
	case g.deadline(&w.req) <= max(now, w.expires):
		return scheduler.ErrDeadline
	case g.spare(&w.req):
		return scheduler.ErrKVExhausted
	}
	return scheduler.ErrQueueFull
}

// spare reports whether r has places in the engine, deadlines of others aside.
func (g *Gate) spare(r *Request) bool {
	s := r.shape()
	return g.sequences == 0 || g.sequences+s.sequences() <= g.maxRunning
}

// refuse settles w without a ticket: it may come back when it would have had its turn.
func (g *Gate) refuse(w *waiter, reason error, now scheduler.Time) {
	g.dequeue(w)
	n := g.waiting.Newcomer(w.Rank, w.Tenant, now)
	retry := g.later(g.turn(&w.req, &n, now))
	w.refused = g.refusal(&w.req, scheduler.Answer{Reason: reason, RetryAfter: retry}, now)
	close(w.settled)
}

// abandon forgets w, and lets go of a ticket that it was given meanwhile.
func (g *Gate) abandon(w *waiter) {
	g.gateMu.Lock()
	if !w.gone() {
		g.dequeue(w)
		g.letIn(g.elapsed())
	}
	t := w.ticket
	g.gateMu.Unlock()
	if t != nil {
		t.Release()
	}
}

// letIn settles the head of the queue while it fits, or it is too late for it, and wakes nobody else. Caller holds
// gateMu.
func (g *Gate) letIn(now scheduler.Time) {
	g.held = false
	g.waiting.Lift(now)
	for g.waiting.Len() > 0 {
		w := g.waiting.Top()
		if w.expires <= now {
			g.refuse(w, g.missed(w, now), now)
			continue
		}
		reuse, ok := g.fits(&w.req, now)
		if g.slack(&w.req, reuse, 0, now) < 0 {
			g.refuse(w, scheduler.ErrDeadline, now)
			continue
		}
		if !ok {
			g.hold(w, now)
			return
		}
		cost := 0
		if !w.req.Paid {
			cost = g.cost(&w.req, reuse)
			g.waiting.Charge(w, cost)
		}
		place := queue.Rank{Priority: w.Level(), Arrival: w.Rank.Arrival, ID: w.Rank.ID}
		g.dequeue(w)
		w.ticket = g.start(&w.req, place, w.queued, now)
		w.ticket.paid = cost
		close(w.settled)
	}
}

// hold has others make room for the head of the queue, which does not fit. Caller holds gateMu.
func (g *Gate) hold(head *waiter, now scheduler.Time) {
	g.held = g.bound > 0 && g.spare(&head.req)
	g.makeRoom(head, now)
}

// letInHeld is letIn where nobody left, but the head may fit by now, or age makes another one the head.
func (g *Gate) letInHeld(now scheduler.Time) {
	if g.held || g.waiting.Rises(now) || g.thrift.due(now) {
		g.letIn(now)
	}
}

package scheduler

import (
	"context"
	"math"
	"time"
)

// waiter is one request in a Gate's queue.
type waiter struct {
	req     GateRequest
	rank    rank
	queued  Time
	expires Time // its last moment in the queue; maxTime is none
	place   int  // in the queue; -1 once settled

	settled chan struct{} // closed when ticket or refused is set
	ticket  *Ticket
	refused *Refusal
}

const maxTime = Time(math.MaxInt64)

func (w *waiter) queueIndex() *int { return &w.place }

// enqueue puts r in the queue and, where it is the head now, has others make room for it. Caller holds gateMu.
func (g *Gate) enqueue(r GateRequest, place rank, now Time) *waiter {
	w := &waiter{req: r, rank: place, queued: now, expires: g.expiry(&r, now), settled: make(chan struct{})}
	g.waiting.push(place, w)
	if w.place == 0 {
		g.makeRoom(w)
	}
	return w
}

// expiry returns when waiting becomes pointless: the queue's bound or a deadline, whichever is first.
func (g *Gate) expiry(r *GateRequest, now Time) Time {
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
func (g *Gate) deadline(r *GateRequest) Time {
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
	if w.place < 0 {
		return
	}
	now := g.elapsed()
	g.refuse(w, now)
	g.letIn(now) // a new head may fit where w did not
}

// refuse settles w with what it was missing.
func (g *Gate) refuse(w *waiter, now Time) {
	reason := ErrQueueFull
	switch {
	case g.deadline(&w.req) <= max(now, w.expires):
		reason = ErrDeadline
	case len(g.tickets) < g.maxRunning:
		reason = ErrKVExhausted
	}
	g.waiting.remove(w)
	retry := g.retryAfter(g.waiting.ahead(w.req.Priority)+1, now)
	w.refused = refusal(&w.req, Answer{Reason: reason, RetryAfter: retry})
	close(w.settled)
}

// abandon forgets w, and lets go of a ticket that it was given meanwhile.
func (g *Gate) abandon(w *waiter) {
	g.gateMu.Lock()
	if w.place >= 0 {
		g.waiting.remove(w)
		g.letIn(g.elapsed())
	}
	t := w.ticket
	g.gateMu.Unlock()
	if t != nil {
		t.Release()
	}
}

// letIn settles the head of the queue while it fits or has expired, and wakes nobody else. Caller holds gateMu.
func (g *Gate) letIn(now Time) {
	for g.waiting.len() > 0 {
		w := g.waiting.top()
		if w.expires <= now {
			g.refuse(w, now)
			continue
		}
		if _, ok := g.fits(&w.req); !ok {
			g.makeRoom(w)
			return
		}
		g.waiting.remove(w)
		w.ticket = g.start(w.req, w.rank, w.queued, now)
		close(w.settled)
	}
}

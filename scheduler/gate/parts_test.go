package gate

import (
	"context"
	"time"
)

// What the tests ask of a Gate besides what a program does.

// ask is Ask of a request that nothing cancels.
func (g *Gate) ask(r *Request) (*Ticket, *Wait, error) { return g.Ask(context.Background(), r) }

// gone reports whether w is settled.
func (w *Wait) gone() bool {
	select {
	case <-w.settled:
		return true
	default:
		return false
	}
}

// abandon gives w up.
func (g *Gate) abandon(w *Wait) {
	now := g.lock(time.Time{})
	defer g.unlock()
	g.model.Abandon(&w.waiter, now)
}

// granted returns the ticket of w, which is settled; nil if it was refused.
func (w *Wait) granted() *Ticket {
	if w.waiter.refusal != nil {
		return nil
	}
	return w.ticket
}

// Answered notes an answer that came at once, and keeps the place: it is a part of Complete.
func (t *Ticket) Answered(tokens int) {
	now := t.gate.lock(time.Time{})
	defer t.gate.unlock()
	if !t.lease.released && t.lease.first == 0 {
		t.gate.model.engine.answered(&t.lease, tokens, now)
		t.gate.model.admitWaiting(now)
	}
}

// Preempted returns a channel that is closed when t has to give way.
func (t *Ticket) Preempted() <-chan struct{} {
	c := make(closing)
	t.Watch(c)
	return c
}

type closing chan struct{}

func (c closing) Preempted() { close(c) }

package hold

import (
	"context"
	"sync/atomic"
	"time"

	"octet/scheduler"
	"octet/scheduler/queue"
)

// Waiter is one request that is held.
type Waiter struct {
	queue.Entry[*Waiter]
	queue   *Queue
	req     Request
	expires time.Time
	leaving int // in Queue.evictable; -1 if it is not there
	settled chan struct{}
	pass    *Pass
	refusal *scheduler.Refusal
}

// leaver is a Waiter in the order in which requests leave a queue that is full.
type leaver struct{ w *Waiter }

// HeapIndex implements queue.Item.
func (l leaver) HeapIndex() *int { return &l.w.leaving }

// Since returns when the request was held first.
func (w *Waiter) Since() time.Time { return w.req.Since }

// Await returns a Pass when the request is let out, once; a *scheduler.Refusal, of scheduler.ErrNoReplica where the
// hold is over; or ctx's error. The place is given up when ctx ends.
func (w *Waiter) Await(ctx context.Context) (*Pass, error) {
	over := time.NewTimer(w.expires.Sub(w.queue.now())) //nolint:forbidigo // the shell's own clock
	defer over.Stop()
	select {
	case <-w.settled:
	case <-over.C:
		w.expire()
	case <-ctx.Done():
		if w.abandon() {
			return nil, ctx.Err()
		}
		w.pass.End()
		return nil, ctx.Err()
	}
	if w.refusal != nil {
		return nil, w.refusal
	}
	return w.pass, nil
}

// expire refuses w, whose time is over, unless it was settled before.
func (w *Waiter) expire() {
	terms := w.queue.Terms()
	q := w.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if !w.Queued() {
		return
	}
	reason := scheduler.ErrNoReplica
	if w.expires.Equal(w.req.Deadline) {
		reason = scheduler.ErrDeadline
	}
	q.settle(w, refusal(&w.req, reason, terms))
}

// abandon gives the place up. It returns true if there is nothing else to give back.
func (w *Waiter) abandon() bool {
	q := w.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.Queued() {
		q.settle(w, nil)
	}
	return w.pass == nil
}

// Pass is the leave of one request to be routed. End lets the next one out.
type Pass struct {
	queue *Queue
	woke  bool
	ended atomic.Bool
}

// Woke returns true if a replica was woken for the request.
func (p *Pass) Woke() bool { return p.woke }

// End says that the request has been answered by a Gate, or has ended. Idempotent; a nil Pass is ended.
func (p *Pass) End() {
	if p == nil || p.ended.Swap(true) {
		return
	}
	q := p.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.passing--
	q.release(q.now())
}

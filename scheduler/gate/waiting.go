package gate

import (
	"fmt"
	"slices"
	"time"

	"octet/scheduler"
	"octet/scheduler/queue"
)

// Waiter is one request in the queue. The zero Waiter is ready for Model.Queue.
type Waiter struct {
	queue.Entry[*Waiter]
	req     Request
	lease   *Lease // what it runs on when it is admitted
	queued  scheduler.Time
	expires scheduler.Time // its last moment in the queue; maxTime means never
	leaving int            // in waiting.evictable; -1 if it is not there
	refusal *scheduler.Refusal

	overtaken int   // later requests that went ahead, see grouping
	claims    bool  // running requests were told to give way for it
	wait      *Wait // carried for the Gate; nil if the Model is driven by another
}

// Expires returns the time after which the Model must be told that w has waited too long. It returns false if w may
// wait for ever.
func (w *Waiter) Expires() (scheduler.Time, bool) { return w.expires, w.expires != maxTime }

// Refusal returns why w was refused; nil if it was admitted or still waits.
func (w *Waiter) Refusal() *scheduler.Refusal { return w.refusal }

// waiting is the queue.
type waiting struct {
	backlog queue.Backlog[*Waiter]
	// the queue again, last first: the order of leaving when it is full. Requests that resume are not in it
	evictable  queue.Heap[leaver]
	maxWaiting int
	maxWait    time.Duration
	// the head may start by now although no request left: a deadline's slack and what tenants have had change with
	// every token and moment
	recheck bool
}

// leaver is a waiter in the order in which waiters leave a queue that is full.
type leaver struct{ w *Waiter }

// HeapIndex implements queue.Item.
func (l leaver) HeapIndex() *int { return &l.w.leaving }

// push puts w in the queue for r.
func (q *waiting) push(w *Waiter, r *Request, place queue.Rank, e *engine, now scheduler.Time) {
	w.Entry = queue.NewEntry[*Waiter](place, r.Tenant)
	w.req, w.queued, w.expires, w.leaving = *r, now, q.expiry(e.deadline(r), now), -1
	w.req.Chain = slices.Clone(r.Chain)
	q.backlog.Push(w, now)
	if r.Resume == 0 {
		q.evictable.Push(place.Reversed(), leaver{w})
	}
}

// remove takes w out of the queue.
func (q *waiting) remove(w *Waiter) {
	q.backlog.Remove(w)
	if w.leaving >= 0 {
		q.evictable.Remove(leaver{w})
	}
}

// displaces reports whether a request of priority takes the place of a strictly less urgent one in a full queue.
func (q *waiting) displaces(priority int) bool {
	return q.maxWaiting > 0 && q.evictable.Len() > 0 && q.evictable.Top().w.Rank.Priority < priority
}

// full reports whether no more than so many places are free.
func (q *waiting) full(reserved int) bool { return q.backlog.Len() >= q.maxWaiting-reserved }

// expiry returns when waiting becomes pointless: the queue's bound or the deadline, whichever is first.
func (q *waiting) expiry(deadline, now scheduler.Time) scheduler.Time {
	at := maxTime
	if q.maxWait > 0 && q.maxWait < maxTime-now {
		at = now + q.maxWait
	}
	return min(at, deadline)
}

// room returns how many can wait within all bounds, as far as is known. every is the time between places.
func (q *waiting) room(every time.Duration) int {
	if every > 0 && q.maxWait > 0 {
		return min(q.maxWaiting, int(q.maxWait/every))
	}
	return q.maxWaiting
}

// checkHead proves that no request waits that could start: but for one that a deadline held back, and that is admitted
// with the next token or question.
func (q *waiting) checkHead(e *engine, now scheduler.Time) error {
	if q.backlog.Len() == 0 || q.recheck || e.behind(q.backlog.Top().Level(), q.backlog.Top().Tenant) {
		return nil
	}
	w := q.backlog.Top()
	if _, fits := e.fits(&w.req, now); fits {
		return fmt.Errorf("%w: %s waits and fits: %d running, %d blocks free", scheduler.ErrCorrupt, w.req.ID,
			len(e.roster.leases), e.ledger.free())
	}
	return nil
}

// settleCost has l's tenant pay what l cost beyond what it paid at the start, or gives it back: answers end before all
// that they asked for. What was generated elsewhere before cost this engine no more than its part of the prompt.
func (q *waiting) settleCost(e *engine, l *Lease) {
	if l.paid == 0 && l.counted == 0 {
		return
	}
	cost := l.uncached + int(float64(l.generated-l.resumed)*e.decodeCost())
	if l.paid > 0 && q.backlog.Len() > 0 {
		q.backlog.Amend(l.rank.Priority, l.tenant, cost-l.paid)
	}
	if l.counted > 0 {
		e.shares.Started(l.tenant, l.rank.Priority, cost-l.counted)
	}
}

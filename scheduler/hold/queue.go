package hold

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"octet/scheduler"
	"octet/scheduler/queue"
)

// Config bounds a Queue.
type Config struct {
	MaxWaiting int                     // requests; 0 lets none wait
	Weights    func(tenant string) int // of the tenants' shares within a priority; nil or below 1 is 1
	Aging      time.Duration           // waiting so long is worth a step of priority; zero means never
	Ceiling    int                     // no priority above it is reached by waiting
	Width      int                     // passes at a time; 0 is 1
	Now        func() time.Time        // required
	// Terms are asked with each request that enters, and with each refusal.
	Terms func() Terms
	// Entered is called, without a lock, after each request that came, whether it waits or is refused, and by Want: a
	// replica is wanted.
	Entered func()
}

// Terms are what requests are held on now.
type Terms struct {
	For   time.Duration // the longest hold; 0 holds no request
	Wakes bool          // a replica is woken for a request, though that is not held
	Back  time.Duration // until a replica serves, as was measured before; 0 is unknown
	Retry time.Duration // after which a refused request may come back; 0 is unknown
}

// Request is what a Queue must know of a request.
type Request struct {
	ID       string // for messages
	Priority int    // larger is more urgent
	Tenant   string
	Cost     int       // what its tenant's share pays
	Arrived  time.Time // its place among equals
	Since    time.Time // when it was held first, if it was let out in vain; zero is now
	Deadline time.Time // the earliest that waiting breaks; zero means none
}

// Queue holds requests. Safe for concurrent use.
type Queue struct {
	waiting atomic.Int64 // requests, for readers without the lock
	origin  time.Time
	now     func() time.Time
	terms   func() Terms
	entered func() // nil if it does not matter

	mu        sync.Mutex // guards all below, and every Waiter
	config    Config
	backlog   queue.Backlog[*Waiter]
	evictable queue.Heap[leaver] // the backlog again, last first
	open      bool
	woke      bool // a replica was woken for those that wait
	passing   int
	arrivals  uint64
}

// New returns a Queue that is closed.
func New(c Config) *Queue {
	q := &Queue{origin: c.Now(), now: c.Now, terms: c.Terms, entered: c.Entered}
	q.Reconfigure(c)
	return q
}

// Reconfigure changes the bounds, and not the functions of c. What waits beyond them stays.
func (q *Queue) Reconfigure(c Config) {
	c.Width = max(c.Width, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.config = c
	q.backlog.Weight, q.backlog.Ceiling = c.Weights, c.Ceiling
	q.backlog.SetAging(c.Aging)
	q.release(q.now())
}

// Len returns how many requests wait.
func (q *Queue) Len() int { return int(q.waiting.Load()) }

// Passing returns how many passes are out.
func (q *Queue) Passing() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.passing
}

// Enter has r wait. A *scheduler.Refusal says why it may not: scheduler.ErrNoReplica where requests are not held now.
// One that is refused wants a replica as well: the next may find it awake.
func (q *Queue) Enter(r Request) (*Waiter, error) {
	terms := q.Terms()
	now := q.now()
	w, err := q.enter(&r, terms, now)
	q.Want()
	return w, err
}

// Want has a replica woken for what does not wait for it.
func (q *Queue) Want() {
	if q.entered != nil {
		q.entered()
	}
}

// Terms returns what requests are held on now.
func (q *Queue) Terms() Terms { return q.terms() }

func (q *Queue) enter(r *Request, terms Terms, now time.Time) (*Waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.Since.IsZero() {
		r.Since = now
	}
	expires := r.Since.Add(terms.For)
	switch {
	case !now.Before(expires):
		return nil, refusal(r, scheduler.ErrNoReplica, terms)
	case !r.Deadline.IsZero() && !now.Add(terms.Back).Before(r.Deadline):
		return nil, refusal(r, scheduler.ErrDeadline, terms)
	case q.backlog.Len() >= q.config.MaxWaiting && !q.displace(r, terms):
		return nil, refusal(r, scheduler.ErrQueueFull, terms)
	}
	if !r.Deadline.IsZero() && r.Deadline.Before(expires) {
		expires = r.Deadline
	}
	q.arrivals++
	rank := queue.Rank{Priority: r.Priority, Arrival: r.Arrived.Sub(q.origin), ID: q.arrivals}
	w := &Waiter{Entry: queue.NewEntry[*Waiter](rank, r.Tenant), queue: q, req: *r, expires: expires,
		leaving: -1, settled: make(chan struct{})}
	q.backlog.Push(w, now.Sub(q.origin))
	q.evictable.Push(rank.Reversed(), leaver{w})
	q.count()
	q.release(now)
	return w, nil
}

// displace refuses a strictly less urgent request in favour of r. It returns false if there is none.
func (q *Queue) displace(r *Request, terms Terms) bool {
	if q.config.MaxWaiting == 0 || q.evictable.Len() == 0 {
		return false
	}
	last := q.evictable.Top().w
	if last.req.Priority >= r.Priority {
		return false
	}
	q.settle(last, refusal(&last.req, scheduler.ErrQueueFull, terms))
	return true
}

// Open lets requests out, in order. woke says that a replica was woken for them.
func (q *Queue) Open(woke bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open, q.woke = true, woke
	q.release(q.now())
}

// Close keeps those in that still wait.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = false
}

// release gives out the passes that are free. The caller holds mu.
func (q *Queue) release(now time.Time) {
	at := now.Sub(q.origin)
	q.backlog.Lift(at)
	for q.open && q.passing < q.config.Width && q.backlog.Len() > 0 {
		w := q.backlog.Top()
		q.backlog.Charge(w, max(w.req.Cost, 1))
		q.passing++
		w.pass = &Pass{queue: q, woke: q.woke}
		q.settle(w, nil)
	}
}

// settle takes w out of the queue. The caller holds mu.
func (q *Queue) settle(w *Waiter, no *scheduler.Refusal) {
	q.backlog.Remove(w)
	q.evictable.Remove(leaver{w})
	q.count()
	w.refusal = no
	close(w.settled)
}

// count is for a caller that holds mu.
func (q *Queue) count() { q.waiting.Store(int64(q.backlog.Len())) }

func refusal(r *Request, reason error, t Terms) *scheduler.Refusal {
	return &scheduler.Refusal{Reason: reason, RetryAfter: t.Retry, Wait: t.Back,
		Detail: fmt.Sprintf("%s at priority %d: no replica serves", r.ID, r.Priority)}
}

// Check proves the invariants. It costs a pass over the queue.
func (q *Queue) Check() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.backlog.Len() != q.evictable.Len() || int(q.waiting.Load()) != q.backlog.Len() {
		return fmt.Errorf("%w: %d wait, %d may leave, %d are counted", scheduler.ErrCorrupt, q.backlog.Len(),
			q.evictable.Len(), q.waiting.Load())
	}
	if q.passing < 0 || q.passing > q.config.Width {
		return fmt.Errorf("%w: %d passes of %d", scheduler.ErrCorrupt, q.passing, q.config.Width)
	}
	if q.open && q.passing < q.config.Width && q.backlog.Len() > 0 {
		return fmt.Errorf("%w: %d wait before an open queue", scheduler.ErrCorrupt, q.backlog.Len())
	}
	return nil
}

package dispatch

import (
	"sync"
	"sync/atomic"
	"time"
)

// Budget bounds the retries of the whole gateway: when everything fails, they must not double the load. Within a
// minute they are at most a share of its requests, or of the requests in flight where those are more; a few are always
// allowed. Not on the budget is what costs no engine anything, and what an engine's death struck: see Dispatch.mayTry.
type Budget struct {
	open  func() int64 // requests in flight
	share atomic.Int64 // thousandths of a retry for each request
	burst atomic.Int64 // retries within a minute that any gateway may make

	newest atomic.Int64 // number of the span that counts now
	spans  [retrySpans]retrySpan
	mu     sync.Mutex // of what looks at several spans
}

// retrySpan counts a part of the last minute.
type retrySpan struct{ requests, retries atomic.Int64 }

// A minute and the span that has just begun are counted in so many spans of so many seconds.
const (
	retrySpans  = 13
	spanSeconds = 5
)

// NewBudget returns a Budget that pays for nothing until it is Set. open returns how many requests are in flight.
func NewBudget(open func() int64) *Budget { return &Budget{open: open} }

// Set says what share of the requests may be retries, and how many may be made within a minute in any case.
func (b *Budget) Set(share float64, burst int) {
	b.share.Store(int64(share * 1000))
	b.burst.Store(int64(burst))
}

// Earn counts a request that came at a time.
func (b *Budget) Earn(at time.Time) { b.span(at).requests.Add(1) }

// span returns what counts at a time that is about now.
func (b *Budget) span(at time.Time) *retrySpan {
	n := at.Unix() / spanSeconds
	if newest := b.newest.Load(); n <= newest {
		n = newest
	} else {
		b.turn(n)
	}
	return &b.spans[n%retrySpans]
}

// turn forgets the spans that are older than a minute in span n.
func (b *Budget) turn(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := max(b.newest.Load()+1, n-retrySpans+1); i <= n; i++ {
		s := &b.spans[i%retrySpans]
		s.requests.Store(0)
		s.retries.Store(0)
		b.newest.Store(i)
	}
}

// Left returns how many retries may be made now.
func (b *Budget) Left(now time.Time) int64 {
	b.span(now)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rest()
}

// rest needs b.mu.
func (b *Budget) rest() int64 {
	share, requests, retries := b.share.Load(), int64(0), int64(0)
	if share == 0 {
		return 0
	}
	for i := range b.spans {
		requests += b.spans[i].requests.Load()
		retries += b.spans[i].retries.Load()
	}
	return max(0, max(b.burst.Load(), share*max(requests, b.open())/1000)-retries)
}

// Take spends one retry if one is left.
func (b *Budget) Take(now time.Time) bool {
	s := b.span(now)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rest() < 1 {
		return false
	}
	s.retries.Add(1)
	return true
}

// note counts a retry that was made beside the budget and leaves less of it to others.
func (b *Budget) note(now time.Time) { b.span(now).retries.Add(1) }

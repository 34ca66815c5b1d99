// Package seats counts the requests that are open, at most limits.max_streams of them, and closes to new ones for a
// drain.
//
//	CheckDrain ─▶ head ─▶ CheckFree ─▶ body ─▶ Take ─▶ … ─▶ Leave
//	     │                    │                 │
//	     └─ draining          └─ overloaded     └─ either: each says when to come back
//
//	serving ─Drain─▶ draining: CheckDrain refuses ─Shut─▶ shut: Take refuses too, and no request is open
//
// Invariants:
//
//  1. Each Take that is not refused is followed by one Leave. One that is refused takes nothing.
//  2. Once Shut has returned true, no request is open any more.
//  3. Requests that were sent away for want of a seat are told to come back one after another.
package seats

import (
	"fmt"
	"sync/atomic"
	"time"

	"octet/gateway/apierr"
	"octet/scheduler/gate"
)

// grain is the unit of Retry-After.
const grain = time.Second

// Seats are the places of the open requests. Safe for concurrent use.
type Seats struct {
	now   func() time.Time
	away  *gate.Book // of requests that were sent away for want of a seat
	open  atomic.Int64
	stay  atomic.Int64              // ns that a request keeps its seat, a fading mean; zero if unknown
	until atomic.Pointer[time.Time] // when the drain ends at the latest; nil before it has begun
	shut  atomic.Bool
}

// New returns Seats by a clock, all of them free.
func New(now func() time.Time) *Seats { return &Seats{now: now, away: gate.NewBook(grain)} }

// Open returns how many requests are open.
func (s *Seats) Open() int64 { return s.open.Load() }

// CheckFree returns nil if fewer than most requests are open, else overloaded.
func (s *Seats) CheckFree(most int) *apierr.Error {
	if s.open.Load() < int64(most) {
		return nil
	}
	return s.full(most)
}

// Take takes one of most seats. The error is overloaded or draining.
func (s *Seats) Take(most int) *apierr.Error {
	if s.open.Add(1) > int64(most) {
		s.open.Add(-1)
		return s.full(most)
	}
	if s.shut.Load() {
		s.open.Add(-1)
		return s.draining()
	}
	return nil
}

// Arrived notes that a request is served now that may have been sent away before.
func (s *Seats) Arrived() {
	if s.away.Away() > 0 {
		s.away.Come(gate.Caller{}, s.now())
	}
}

// Leave gives a seat back. It returns true if Stayed is to be told how long it was taken: while most seats are, and for
// the first request.
func (s *Seats) Leave(most int) bool { return s.open.Add(-1) > int64(most)/2 || s.stay.Load() == 0 }

// Stayed notes how long a request kept its seat. Of two at the same time, one may not count.
func (s *Seats) Stayed(took time.Duration) {
	was := s.stay.Load()
	if was == 0 {
		was = int64(took)
	}
	s.stay.Store(was + (int64(took)-was)/32)
}

// full is the refusal of a request that finds all seats taken.
func (s *Seats) full(most int) *apierr.Error {
	e := apierr.New(apierr.Overloaded, "", fmt.Sprintf("%d requests are open: limits.max_streams", most))
	every, now := time.Duration(s.stay.Load()/int64(max(1, most))), s.now()
	e.RetryAfter = s.away.Tell(&gate.Sent{After: every, Every: every}, now, now)
	return e
}

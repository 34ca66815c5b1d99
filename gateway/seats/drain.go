package seats

import (
	"time"

	"octet/gateway/apierr"
)

// Drain begins a drain, which ends by until: CheckDrain refuses from now on. Bodies on their way may still Take.
func (s *Seats) Drain(until time.Time) { s.until.Store(&until) }

// Draining returns true once Drain was called.
func (s *Seats) Draining() bool { return s.until.Load() != nil }

// CheckDrain returns nil before a drain, else draining.
func (s *Seats) CheckDrain() *apierr.Error {
	if !s.Draining() {
		return nil
	}
	return s.draining()
}

// Shut closes the seats if no request is open and none is arriving, and returns whether that held until they were
// closed. A Take that comes between is refused or keeps Shut from returning true.
func (s *Seats) Shut(arriving func() int64) bool {
	busy := func() bool { return s.open.Load() > 0 || arriving() > 0 }
	if busy() {
		return false
	}
	s.shut.Store(true)
	return !busy()
}

// draining is the refusal of a request during a drain: it is to come back when this process has gone, and another one
// may be here.
func (s *Seats) draining() *apierr.Error {
	e := apierr.New(apierr.Draining, "", "the gateway is shutting down")
	e.RetryAfter = grain
	if until := s.until.Load(); until != nil {
		e.RetryAfter = max(grain, until.Sub(s.now()))
	}
	return e
}

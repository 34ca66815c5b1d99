package intake

import "time"

// Timer is the clock of one request. All that is timed of the request is a duration since its arrival: one look at one
// clock.
type Timer struct {
	arrival time.Time
	since   func(time.Time) time.Duration
	noted   time.Duration // for Moment; zero is used up
}

// StartTimer returns the Timer of a request. since returns the time since another, by the clock that arrival is of.
func StartTimer(arrival time.Time, since func(time.Time) time.Duration) Timer {
	return Timer{arrival: arrival, since: since}
}

// Since returns the time since the request's arrival.
func (t *Timer) Since() time.Duration { return t.since(t.arrival) }

// At returns the time at so long after the arrival.
func (t *Timer) At(since time.Duration) time.Time { return t.arrival.Add(since) }

// Now returns the time.
func (t *Timer) Now() time.Time { return t.At(t.Since()) }

// Note keeps a look at the clock for what follows at once, see Moment. Zero forgets it.
func (t *Timer) Note(since time.Duration) { t.noted = since }

// Moment is Since for what follows at once on what was noted last.
func (t *Timer) Moment() time.Duration {
	if noted := t.noted; noted != 0 {
		t.noted = 0
		return noted
	}
	return t.Since()
}

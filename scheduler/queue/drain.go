package queue

import (
	"time"

	"octet/scheduler"
)

// The rate is measured over the last drainMarks departures that are not older than drainWindow.
const (
	drainMarks  = 64
	drainWindow = 30 * time.Second
	// LongestRetry bounds every Retry-After: no client is sent away for longer on a guess.
	LongestRetry = 60 * time.Second
)

// DrainRate measures how fast requests leave.
type DrainRate struct {
	n     uint64                     // departures so far
	marks [drainMarks]scheduler.Time // ring
}

// Mark notes a departure.
func (d *DrainRate) Mark(now scheduler.Time) {
	d.marks[d.n%drainMarks] = now
	d.n++
}

// Interval returns the mean time between departures; 0 is unknown: fewer than two in the window.
func (d *DrainRate) Interval(now scheduler.Time) time.Duration {
	count := uint64(0)
	first := now
	for i := uint64(1); i <= min(d.n, drainMarks); i++ {
		at := d.marks[(d.n-i)%drainMarks]
		if now-at > drainWindow {
			break
		}
		first = at
		count++
	}
	if count < 2 {
		return 0
	}
	return max(1, (now-first)/time.Duration(count-1))
}

// RetryAfter returns when the n-th departure from now is due; 0 is unknown.
func (d *DrainRate) RetryAfter(n int, now scheduler.Time) time.Duration {
	return min(d.Interval(now)*time.Duration(n), LongestRetry)
}

package client

import (
	"math"
	"time"
)

// moment is a time, in nanoseconds since shortly before the process began; 0 is never. It is read from one clock, where
// time.Now reads two, and compared by one instruction.
type moment int64

var began = time.Now().Add(-time.Second)

func now() moment { return moment(time.Since(began)) }

// momentOf is t, or now where t is zero.
func momentOf(t time.Time) moment {
	if t.IsZero() {
		return now()
	}
	return moment(t.Sub(began))
}

// after is the time d later; what is too far away is as far as can be.
func (i moment) after(d time.Duration) moment {
	at := i + moment(d)
	if at < i && d > 0 {
		return math.MaxInt64
	}
	return at
}

// since is how long before i the other was.
func (i moment) since(other moment) time.Duration { return time.Duration(i - other) }

// time is i for deadlines, which go by what it has of the monotonic clock.
func (i moment) time() time.Time { return began.Add(time.Duration(i)) }

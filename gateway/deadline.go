package gateway

import (
	"time"

	"octet/gateway/apierr"
	"octet/gateway/intake"
)

// deadlineEnd is what came of the deadline that a request had declared.
type deadlineEnd int

const (
	noDeadline deadlineEnd = iota // none was declared, or it says nothing: see deadlineOf
	deadlineMet
	deadlineMissed
)

// deadlineOf returns what came of a request's deadline, at now, its end. A deadline is met by a whole answer, and of a
// stream by a first token, that came in time. It is missed where they came later, and where the request ended without
// them after the deadline had passed. A request that ended otherwise before its deadline says nothing: it was refused,
// which its client was told at once, or its engine failed, or its client left.
func deadlineOf(r *intake.Request, a *answer, ttft time.Duration, now time.Time) deadlineEnd {
	first := r.Intent.TTFTDeadline
	if !r.Stream {
		first = time.Time{} // an answer in one piece has no first token
	}
	last := r.Intent.Deadline
	switch {
	case first.IsZero() && last.IsZero():
		return noDeadline
	case a.failure != nil && a.failure.Code == apierr.DeadlineExceeded, passed(last, now),
		passed(first, r.Arrival.Add(ttft)), ttft == 0 && passed(first, now):
		return deadlineMissed
	case a.whole():
		return deadlineMet
	}
	return noDeadline
}

// passed reports whether a deadline, if there is one, is over at a time.
func passed(deadline, at time.Time) bool { return !deadline.IsZero() && at.After(deadline) }

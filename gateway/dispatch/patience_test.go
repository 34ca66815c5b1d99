package dispatch

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/intake"
	"octet/gateway/stream"
)

// A first-token budget is counted from the moment at which it was reckoned: what passed between the admission and that
// moment is not taken off it twice, and when it ends, it is the client's deadline.
func TestABudgetIsCountedFromWhenItWasReckoned(t *testing.T) {
	zero := time.Now()
	for _, c := range []struct {
		name           string
		deadline       time.Duration // of the first token, from zero; 0 is none
		leg, unary     bool
		handed         int // tokens that the client has
		limit, from    time.Duration
		hurried, ended bool
	}{
		{"no deadline", 0, false, false, 0, 60 * time.Second, 0, false, false},
		{"a deadline", 5 * time.Second, false, false, 0, 2 * time.Second, 3 * time.Second, true, false},
		{"a deadline at a leg", 5 * time.Second, true, false, 0, 2 * time.Second, 3 * time.Second, true, false},
		{"a deadline after ttft_timeout", 90 * time.Second, false, false, 0, 60 * time.Second, 0, false, false},
		{"a deadline just before ttft_timeout", 59 * time.Second, false, false, 0, 56 * time.Second, 3 * time.Second,
			true, false},
		{"a deadline that has passed", time.Second, false, false, 0, 0, 0, false, true},
		{"one that has passed, of a stream that goes on", time.Second, false, false, 7, 60 * time.Second, 0, false,
			false},
		{"one that has passed, at a leg of a stream that goes on", time.Second, true, false, 7, 60 * time.Second, 0,
			false, false},
		{"a unary answer", 5 * time.Second, false, true, 0, 600 * time.Second, 0, false, false},
	} {
		// the question was made for 3 s
		timer := intake.StartTimer(zero, func(at time.Time) time.Duration { return zero.Add(3 * time.Second).Sub(at) })
		x := &Dispatch{Parts: Parts{Shared: &Shared{WallClock: true}, Timer: &timer,
			Runtime: &ensemble.Runtime{Limits: ensemble.Limits{TTFTTimeout: time.Minute,
				AnswerTimeout: 10 * time.Minute}},
			Request: &intake.Request{Arrival: zero}, Relay: new(stream.Relay)}}
		x.turn.asked, x.turn.leg, x.Request.Stream = zero, c.leg, !c.unary
		if c.deadline != 0 {
			x.Request.Intent.TTFTDeadline = zero.Add(c.deadline)
		}
		p, err := attempt{x}.patience(c.handed)
		if ended := errors.Is(err, stream.ErrFirstToken); ended != c.ended {
			t.Errorf("%s: %v", c.name, err)
		} else if !ended && (p.limit != c.limit || p.from.Sub(zero) != c.from ||
			x.turn.hurriedBy.IsZero() == c.hurried) {
			t.Errorf("%s: %v from %v, of the client %v", c.name, p.limit, p.from.Sub(zero), x.turn.hurriedBy)
		}
		late := x.Relay.Late(x.turn.hurriedBy, fmt.Errorf("%w: nothing came", engine.ErrTimeout))
		if got := fault.CauseOf(late) == fault.ByClient; got != c.hurried {
			t.Errorf("%s: the end of the time is the client's: %v", c.name, got)
		}
	}
}

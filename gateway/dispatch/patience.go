package dispatch

import (
	"time"

	"octet/gateway/stream"
)

// patience is how long an engine may take until its first byte.
type patience struct {
	from  time.Time // it is counted from then; zero is from when the request is sent
	limit time.Duration
}

// patience reckons how long the engine whose turn it is may take, and from when: ttft_timeout and answer_timeout from
// dispatch, a first-token deadline of the client's from now, which it was compared with. It is the rest of that
// deadline only before the client has its first token; where there is no rest, nothing is sent. Of a unary answer,
// which shows nothing before its end, it is for all of it; of a leg too, which is over before the client's first token.
// delivered is how many tokens the client has.
func (a attempt) patience(delivered int) (patience, error) {
	t, limits := &a.turn, &a.Runtime.Limits
	t.hurriedBy = time.Time{}
	p := patience{t.asked, limits.TTFTTimeout}
	if a.steps.beside != nil {
		p.from = time.Time{} // the leg beside has been waited for
	}
	if !a.Request.Stream && !t.leg {
		p.limit = limits.AnswerTimeout
	}
	deadline := a.Request.Intent.TTFTDeadline
	if !a.Request.Stream || delivered > 0 || deadline.IsZero() {
		return p, nil // no first token is owed by a deadline of the client's
	}
	now := a.Timer.Now()
	left, limit := deadline.Sub(now), p.limit
	if !p.from.IsZero() {
		limit -= now.Sub(p.from)
	}
	switch {
	case left <= 0:
		return p, stream.ErrFirstToken
	case left < limit:
		t.hurriedBy = deadline
		p = patience{limit: left}
		if a.Shared.WallClock {
			p.from = now
		}
	}
	return p, nil
}

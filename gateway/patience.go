package gateway

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
func (x *exchange) patience(delivered int) (patience, error) {
	t := &x.turn
	t.hurriedBy = time.Time{}
	p := patience{t.asked, x.rt.Limits.TTFTTimeout}
	if x.beside != nil {
		p.from = time.Time{} // the leg beside has been waited for
	}
	if !x.request.Stream && !t.leg {
		p.limit = x.rt.Limits.AnswerTimeout
	}
	if !x.owesFirstToken(delivered) {
		return p, nil
	}
	now := x.Now()
	left, limit := x.request.Intent.TTFTDeadline.Sub(now), p.limit
	if !p.from.IsZero() {
		limit -= now.Sub(p.from)
	}
	switch {
	case left <= 0:
		return p, stream.ErrFirstToken
	case left < limit:
		t.hurriedBy = x.request.Intent.TTFTDeadline
		p = patience{limit: left}
		if x.s.ownClock {
			p.from = now
		}
	}
	return p, nil
}

// owesFirstToken reports whether the client is owed a first token by a deadline of its own.
func (x *exchange) owesFirstToken(delivered int) bool {
	return x.request.Stream && delivered == 0 && !x.request.Intent.TTFTDeadline.IsZero()
}

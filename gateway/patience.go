package gateway

import (
	"errors"
	"time"

	"octet/engine"
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
func (x *exchange) patience() (patience, error) {
	t := &x.turn
	t.hurried = false
	p := patience{t.asked, x.rt.Limits.TTFTTimeout}
	if x.beside != nil {
		p.from = time.Time{} // the leg beside has been waited for
	}
	if !x.stream && !t.leg {
		p.limit = x.rt.Limits.AnswerTimeout
	}
	if !x.owesFirstToken() {
		return p, nil
	}
	now := x.Now()
	left, limit := x.intent.TTFTDeadline.Sub(now), p.limit
	if !p.from.IsZero() {
		limit -= now.Sub(p.from)
	}
	switch {
	case left <= 0:
		return p, errTTFTDeadline
	case left < limit:
		t.hurried = true
		p = patience{limit: left}
		if x.s.ownClock {
			p.from = now
		}
	}
	return p, nil
}

// owesFirstToken reports whether the client is owed a first token by a deadline of its own.
func (x *exchange) owesFirstToken() bool {
	return x.stream && x.handedOut == 0 && !x.intent.TTFTDeadline.IsZero()
}

// hurry bounds the next read by what is left of the client's first-token deadline, where that is what the engine was
// given.
func (x *exchange) hurry() error {
	if !x.turn.hurried || !x.owesFirstToken() {
		return nil
	}
	left := x.intent.TTFTDeadline.Sub(x.Now())
	if left <= 0 {
		return errTTFTDeadline
	}
	x.turn.resp.SetIdle(left)
	return nil
}

// lateDeadline says deadline where the time that ran out was what was left of the client's own.
func (x *exchange) lateDeadline(err error) error {
	if x.turn.hurried && x.handedOut == 0 && errors.Is(err, engine.ErrTimeout) {
		return errTTFTDeadline
	}
	return err
}

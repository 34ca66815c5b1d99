package gateway

import (
	"errors"

	"octet/scheduler"
)

// goesOn says whether the second choice is to be tried: once, on a refusal that another specialist may not share,
// before the first byte.
func (x *exchange) goesOn(err error) bool {
	return !x.relay.Begun() && errors.Is(err, scheduler.ErrRefused) && !errors.Is(err, scheduler.ErrExceedsPool) &&
		x.hasSecond()
}

// hasSecond reports whether there is a second choice that may answer.
func (x *exchange) hasSecond() bool { return x.s.decider.Second(x.rt, &x.request, &x.decision) }

// serveSecond has the second choice answer where the first refused. Where the first had only offered the request back
// for its long wait, and the second refuses too, it waits at the first.
func (x *exchange) serveSecond(refused error) error {
	var no *scheduler.Refusal
	first, offered := x.decision.Verdict, errors.As(refused, &no) && no.Offered
	x.shadow.forgo() // it is asked as the first now
	x.decision.Verdict, _ = first.SecondChoice()
	x.elsewhere = false
	err := x.serve()
	if offered && !x.relay.Begun() && errors.Is(err, scheduler.ErrRefused) {
		x.decision.Verdict = first
		return x.serve()
	}
	return err
}

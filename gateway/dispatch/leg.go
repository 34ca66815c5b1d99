package dispatch

import (
	"context"
	"errors"
	"fmt"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/place"
	"octet/gateway/receipt"
	"octet/gateway/sse"
	"octet/gateway/stream"
	"octet/routing"
)

// dispatchLeg is one replica's turn at a step before the last, to its end. What the replica keeps for the last step
// stays held.
func (d *Dispatch) dispatchLeg(ctx context.Context, s routing.Step, rep *ensemble.Replica,
	at *receipt.Attempt) error {
	hop := new(ensemble.Hop)
	attempt{d}.prepare(hop, &s, rep)
	if err := d.steps.protocol.Request(hop); err != nil {
		d.closeAttempt(at, err)
		return err
	}
	d.begin(rep, at, &s)
	err := leg{attempt{d}, hop}.run(ctx)
	if err == nil && (hop.Hold || hop.Beside || hop.Unasked) {
		d.steps.hold(&d.turn)
	}
	d.settle(err)
	return fault.Again(err)
}

// leg is one replica's turn at a step before the last.
type leg struct {
	attempt
	hop *ensemble.Hop
}

// most is how many tokens the engine may write: one that shows that the prompt is computed, where the answer is not
// asked of both engines alike.
func (l leg) most() int {
	if l.hop.Beside {
		return l.attempt.most()
	}
	return 1
}

// run gets the leg's answer, as often as its place is taken back.
func (l leg) run(ctx context.Context) (err error) {
	a, hop := l.attempt, l.hop
	if err = a.turn.place.Permit(a.Timer.Now()); err != nil {
		return err
	}
	for {
		if !hop.Unasked && !hop.Beside {
			a.turn.place.Watch(ctx)
		}
		if !hop.NoPlace {
			if err = a.enter(ctx, a.Timer.Since(), l.most()); err != nil {
				return err
			}
		}
		a.retry.free = false
		switch {
		case hop.Unasked:
			a.turn.unasked = true
			if a.turn.place.Pin() {
				return nil
			}
		case hop.Beside:
			a.turn.unasked = true // as yet
			a.steps.beside = &beside{step: hop.Step, rep: hop.Replica, turn: a.Trace.Turns(),
				entry: a.Receipt.Latest(), permit: a.turn.place.Doubt()}
			return nil
		default:
			if err = l.call(); !errors.Is(err, place.ErrPreempted) {
				return err
			}
		}
		a.turn.leave()
		a.Preempted++
	}
}

// call sends the leg's request and has the Protocol take its answer.
func (l leg) call() error {
	a, hop, t := l.attempt, l.hop, &l.turn
	defer t.place.Unwatch()
	var err error
	if t.resp, err = a.ask(t.place.Context(), hop); err != nil {
		return t.place.Cause(a.Relay.Late(t.hurriedBy, err))
	}
	if t.resp.Status() != 200 {
		return a.orAsleep(a.report().Refused(t.resp))
	}
	a.Taken = true
	body, err := a.Relay.Collect(t.resp)
	if err != nil {
		return t.place.Cause(a.Relay.Late(t.hurriedBy, err))
	}
	if t.place.Admitted() {
		t.place.FirstToken(a.Timer.Now()) // a leg's answer is its prefill's end
		if said, err := sse.ScanUnary(body); err == nil {
			if cached := a.Relay.Cont.Cached(said.Usage, t.handed); cached >= 0 {
				t.place.Cached(cached)
			}
			a.Observer().Usage(said.Usage)
		} else if errors.Is(err, sse.ErrAborted) {
			return a.orAsleep(a.report().Meaning(&stream.Unusable{Err: err}))
		}
		if !t.place.Pin() {
			return place.ErrPreempted
		}
	}
	if err := a.steps.protocol.Answer(hop, body); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrProtocol, err)
	}
	if hop.PromptTokens > 0 {
		a.Plan.Prompt.Tokens, a.Plan.Prompt.Exact = hop.PromptTokens, true
	}
	return nil
}

// doWithout reports whether the last step is to be asked again because of what was handed over: its engine answered
// that it cannot, or the engine beside it failed, and the client has seen nothing. The two of a pair meet once more;
// after that, and in all other cases, the last step does without. Where it never can, what it finds wrong with the
// request stands.
func (a attempt) doWithout(err error) bool {
	t := &a.turn
	if err == nil || t.unasked {
		return false
	}
	var said *apierr.Error
	failed := errors.Is(err, fault.ErrHandover) || errors.As(err, &said) && !errors.Is(err, fault.ErrEngineBusy)
	if !failed || a.Relay.Begun() || !t.handed {
		return false
	}
	t.at.Fallback = err.Error()
	if b := a.steps.beside; b != nil {
		b.linger()
		a.steps.stopBeside()
		if a.blame(b); !b.again {
			b.again = true
			return true
		}
	}
	if t.forgot || t.rep.OnlyAfterMeeting() && errors.Is(err, fault.ErrMistaken) || !a.steps.protocol.Forget() {
		return false
	}
	t.forgot, t.handed = true, false
	if b := a.steps.beside; b != nil {
		a.heirs.died.Set(b.rep.Host)
		a.steps.unmet = true
	}
	a.steps.handBack()
	return true
}

// mistaken returns what the engine beside has found wrong with the request, where that has ended the attempt of a
// replica that cannot do without: the client is to know, and no other engine finds otherwise. Else it returns err.
func (a attempt) mistaken(err error) error {
	b := a.steps.beside
	if b == nil || !errors.Is(err, fault.ErrHandover) || !a.turn.rep.OnlyAfterMeeting() {
		return err
	}
	a.steps.stopBeside()
	said, is := errors.AsType[*apierr.Error](b.err)
	if !is || !errors.Is(said, fault.ErrMistaken) || said.Code == apierr.ModelNotFound {
		return err
	}
	a.turn.unasked = true
	a.blame(b)
	return said
}

// unmet reports whether no replica has answered as the one that was to hand them the prompt failed: another one may
// meet them. That is a retry as any other.
func (d *Dispatch) unmet(err error) bool {
	again := errors.Is(err, routing.ErrNotTried) || errors.Is(err, routing.ErrRetryable)
	if !d.steps.unmet || !again || errors.Is(err, routing.ErrNoBudget) || d.Request.Intent.Replica != "" ||
		!d.mayRetry() {
		return false
	}
	d.steps.unmet = false
	return true
}

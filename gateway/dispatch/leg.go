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
	d.prepare(hop, &s, rep)
	if err := d.steps.protocol.Request(hop); err != nil {
		d.closeAttempt(at, err)
		return err
	}
	d.begin(rep, at, &s)
	err := leg{d, hop}.run(ctx)
	if err == nil && (hop.Hold || hop.Beside || hop.Unasked) {
		d.steps.hold(&d.turn)
	}
	d.settle(err)
	return fault.Again(err)
}

// leg is one replica's turn at a step before the last.
type leg struct {
	*Dispatch
	hop *ensemble.Hop
}

// run gets the leg's answer, as often as its place is taken back.
func (l leg) run(ctx context.Context) (err error) {
	d, hop := l.Dispatch, l.hop
	if err = d.turn.place.Permit(d.Timer.Now()); err != nil {
		return err
	}
	for {
		if !hop.Unasked && !hop.Beside {
			d.turn.place.Watch(ctx)
		}
		if !hop.NoPlace {
			if err = d.enter(ctx, d.Timer.Since()); err != nil {
				return err
			}
		}
		d.retry.free = false
		switch {
		case hop.Unasked:
			d.turn.unasked = true
			if d.turn.place.Pin() {
				return nil
			}
		case hop.Beside:
			d.turn.unasked = true // as yet
			d.steps.beside = &beside{step: hop.Step, rep: hop.Replica, turn: d.Trace.Turns(),
				entry: d.Receipt.Latest(), permit: d.turn.place.Doubt()}
			return nil
		default:
			if err = l.call(); !errors.Is(err, place.ErrPreempted) {
				return err
			}
		}
		d.turn.leave()
		d.Preempted++
	}
}

// call sends the leg's request and has the Protocol take its answer.
func (l leg) call() error {
	d, hop, t := l.Dispatch, l.hop, &l.turn
	defer t.place.Unwatch()
	var err error
	if t.resp, err = d.ask(t.place.Context(), hop); err != nil {
		return t.place.Cause(d.Relay.Late(t.hurriedBy, err))
	}
	if t.resp.Status() != 200 {
		return d.refused()
	}
	d.Taken = true
	body, err := d.Relay.Collect(t.resp)
	if err != nil {
		return t.place.Cause(d.Relay.Late(t.hurriedBy, err))
	}
	if t.place.Admitted() {
		t.place.FirstToken(d.Timer.Now()) // a leg's answer is its prefill's end
		if said, err := sse.ScanUnary(body); err == nil {
			if cached := d.Relay.Cont.Cached(said.Usage, t.handed); cached >= 0 {
				t.place.Cached(cached)
			}
			d.Observer().Usage(said.Usage)
		} else if errors.Is(err, sse.ErrAborted) {
			return d.aborted(d.report().Meaning(&stream.Unusable{Err: err}))
		}
		if !t.place.Pin() {
			return place.ErrPreempted
		}
	}
	if err := d.steps.protocol.Answer(hop, body); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrProtocol, err)
	}
	if hop.PromptTokens > 0 {
		d.Plan.Prompt.Tokens, d.Plan.Prompt.Exact = hop.PromptTokens, true
	}
	return nil
}

// doWithout reports whether the last step is to be asked again because of what was handed over: its engine answered
// that it cannot, or the engine beside it failed, and the client has seen nothing. The two of a pair meet once more;
// after that, and in all other cases, the last step does without. Where it never can, what it finds wrong with the
// request stands.
func (d *Dispatch) doWithout(err error) bool {
	t := &d.turn
	if err == nil || t.unasked {
		return false
	}
	var said *apierr.Error
	failed := errors.Is(err, fault.ErrHandover) || errors.As(err, &said) && !errors.Is(err, fault.ErrEngineBusy)
	if !failed || d.Relay.Begun() || !t.handed {
		return false
	}
	t.at.Fallback = err.Error()
	if b := d.steps.beside; b != nil {
		d.steps.stopBeside()
		if d.blame(b); !b.again {
			b.again = true
			return true
		}
	}
	if t.forgot || t.rep.OnlyAfterMeeting() && errors.Is(err, fault.ErrMistaken) || !d.steps.protocol.Forget() {
		return false
	}
	t.forgot, t.handed = true, false
	if b := d.steps.beside; b != nil {
		d.heirs.died.Set(b.rep.Host)
		d.steps.unmet = true
	}
	d.steps.handBack()
	return true
}

// mistaken returns what the engine beside has found wrong with the request, where that has ended the attempt of a
// replica that cannot do without: the client is to know, and no other engine finds otherwise. Else it returns err.
func (d *Dispatch) mistaken(err error) error {
	b := d.steps.beside
	if b == nil || !errors.Is(err, fault.ErrHandover) || !d.turn.rep.OnlyAfterMeeting() {
		return err
	}
	d.steps.stopBeside()
	said, is := errors.AsType[*apierr.Error](b.err)
	if !is || !errors.Is(said, fault.ErrMistaken) || said.Code == apierr.ModelNotFound {
		return err
	}
	d.turn.unasked = true
	d.blame(b)
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

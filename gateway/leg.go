package gateway

import (
	"context"
	"errors"
	"fmt"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/place"
	"octet/gateway/receipt"
	"octet/gateway/sse"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// leg is one replica's turn at a step before the last, to its end. What the replica keeps for the last step stays held.
func (x *exchange) leg(ctx context.Context, s routing.Step, rep *ensemble.Replica, at *receipt.Attempt) error {
	hop := new(ensemble.Hop)
	x.prepare(hop, &s, rep)
	if err := x.protocol.Request(hop); err != nil {
		x.closeAttempt(at, err)
		return err
	}
	x.begins(rep, at, nil)
	err := x.runLeg(ctx, hop)
	if err == nil && (hop.Hold || hop.Beside || hop.Unasked) {
		x.hold()
	}
	x.settle(err)
	return again(err)
}

// again says what an Executor may make of a failed attempt that the client has seen nothing of.
func again(err error) error {
	switch {
	case errors.Is(err, fleet.ErrBreakerOpen):
		return fmt.Errorf("%w: %w", routing.ErrNotTried, err)
	case err == nil || !elsewhere(err):
		return err
	}
	return fmt.Errorf("%w: %w", routing.ErrRetryable, err)
}

// runLeg gets one leg's answer, as often as its place is taken back.
func (x *exchange) runLeg(ctx context.Context, hop *ensemble.Hop) (err error) {
	if err = x.turn.place.Permit(x.Now()); err != nil {
		return err
	}
	for {
		if !hop.Unasked && !hop.Beside {
			x.turn.place.Watch(ctx)
		}
		if !hop.NoPlace {
			if err = x.enter(ctx, x.Since()); err != nil {
				return err
			}
		}
		x.free = false
		if hop.Unasked {
			x.turn.unasked = true
			if x.turn.place.Pin() {
				return nil
			}
			x.turn.leave()
			x.preempted++
			continue
		}
		if hop.Beside {
			x.beside = &beside{step: hop.Step, rep: hop.Replica}
			return nil
		}
		if err = x.callLeg(hop); !errors.Is(err, place.ErrPreempted) {
			return err
		}
		x.turn.leave()
		x.preempted++
	}
}

// callLeg sends one leg's request and has the Protocol take its answer.
func (x *exchange) callLeg(hop *ensemble.Hop) error {
	t := &x.turn
	defer t.place.Unwatch()
	var err error
	if t.resp, err = x.ask(t.place.Context(), hop); err != nil {
		return t.place.Cause(x.relay.Late(x.turn.hurriedBy, err))
	}
	if t.resp.Status() != 200 {
		return x.engineRefused(t.resp)
	}
	body, err := x.relay.Collect(t.resp)
	if err != nil {
		return t.place.Cause(x.relay.Late(x.turn.hurriedBy, err))
	}
	if t.place.Admitted() {
		t.place.FirstToken(x.Now()) // a leg's answer is its prefill's end
		if said, err := sse.ScanUnary(body); err == nil {
			x.noteCached(said.Usage)
		}
		if !t.place.Pin() {
			return place.ErrPreempted
		}
	}
	if err := x.protocol.Answer(hop, body); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrProtocol, err)
	}
	if hop.PromptTokens > 0 {
		x.prompt.Tokens, x.prompt.Exact = hop.PromptTokens, true
	}
	return nil
}

// hold keeps the turn's place beyond the turn: its engine keeps the blocks for the last step's.
func (x *exchange) hold() {
	x.held = append(x.held, x.turn.place.Detach())
}

// releaseHeld gives back the places of earlier steps. Idempotent.
func (x *exchange) releaseHeld() {
	for i := range x.held {
		x.held[i].Release()
	}
	clear(x.held)
	x.held = x.held[:0]
}

// handBack ends all that earlier steps left behind. Idempotent.
func (x *exchange) handBack() {
	if x.beside != nil {
		x.endBeside()
	}
	if len(x.held) > 0 {
		x.releaseHeld()
	}
}

// yieldHeld gives back places on replicas that others decode on before the exchange waits for another place: holding
// one replica while queueing for another can deadlock two requests.
func (x *exchange) yieldHeld(r *gate.Request) {
	if x.turn.leg || x.turn.rep.Gate.Probe(*r).State != scheduler.Waiting {
		return
	}
	for i := range x.held {
		if x.held[i].Role() != fleet.RolePrefill {
			x.held[i].Release()
		}
	}
}

// doWithout reports whether the last step is to be asked again because of what was handed over: its engine answered
// that it cannot, or the engine beside it failed, and the client has seen nothing. The two of a pair meet once more;
// after that, and in all other cases, the last step does without.
func (x *exchange) doWithout(err error) bool {
	if err == nil {
		return false
	}
	var said *apierr.Error
	failed := errors.Is(err, errHandover) || errors.As(err, &said) && !errors.Is(err, errEngineBusy)
	if !failed || x.relay.Begun() || !x.turn.handed {
		return false
	}
	x.turn.at.Fallback = err.Error()
	if b := x.beside; b != nil && !b.again {
		b.again = true
		return true
	}
	if x.turn.forgot || !x.protocol.Forget() {
		return false
	}
	x.turn.forgot = true
	x.turn.handed = false
	x.endBeside()
	x.releaseHeld()
	return true
}

package gateway

import (
	"errors"
	"time"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/place"
	"octet/gateway/receipt"
	"octet/routing"
	"octet/routing/fleet"
)

// turn is what an exchange holds of the replica that answers it, from the breaker's permit to the end of the answer.
type turn struct {
	rep       *ensemble.Replica
	step      routing.Step
	leg       bool             // a step before the last
	unasked   bool             // nothing was sent to it: how the turn ended says nothing of it
	at        *receipt.Attempt // its entry in the receipt
	place     place.Place
	hop       ensemble.Hop    // of the last step
	asked     time.Time       // when the Gate said yes, by time.Now; zero where another clock is ours
	sent      engine.Request  // what the engine was asked last; Clients are done with it when they have answered
	resp      engine.Response // nil before the head
	hurriedBy time.Time       // the client's first-token deadline, where the engine was given what is left of it
	handed    bool            // the engine was sent a prompt that another has computed
	forgot    bool            // it was asked again without
}

// begins makes it a replica's turn at a step; at none it is one before the last.
func (x *exchange) begins(rep *ensemble.Replica, at *receipt.Attempt, step *routing.Step) {
	x.settle(errAbandoned) // nothing, unless an attempt was left without its end
	t := &x.turn
	t.rep, t.at, t.leg = rep, at, step == nil
	x.relay.NewEngine()
	t.place = place.New(rep.Fleet, rep.Gate, x.sp.BlockSize)
	if step != nil {
		t.step = *step
		t.step.Ranked = nil // in the route's memory
	}
}

// leave gives the place back and lets go of the engine. Idempotent.
func (t *turn) leave() {
	if t.resp != nil {
		_ = t.resp.Close() // before its context ends, which would cost a connection that can be used again
		t.resp = nil
	}
	t.place.Release()
}

// settle ends a turn: everything is given back, and err is held against the replica, or for it, or neither. Idempotent.
func (x *exchange) settle(err error) {
	t := &x.turn
	if t.rep == nil {
		return
	}
	x.learns(err)
	t.leave()
	verdict := verdictOf(err)
	if !x.relay.Heard() && errors.Is(err, errEngineFailed) {
		x.doubt()
	}
	if t.unasked && err == nil {
		verdict = fleet.Cancelled
	}
	t.place.Close(verdict)
	switch {
	case errors.Is(err, engine.ErrConnect):
		t.rep.Fleet.OnConnectFailure()
	case verdict == fleet.Succeeded:
		t.rep.Fleet.OnSuccess()
	}
	x.closeAttempt(t.at, err)
	x.turn = turn{}
}

// slim lets go of what only a retry would need; a continuation needs the body, and the prompt's chain, which enter has
// kept.
func (x *exchange) slim() {
	x.request.Release(x.relay.Cont != nil)
	x.dropRoute()
}

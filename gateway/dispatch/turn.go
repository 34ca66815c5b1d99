package dispatch

import (
	"errors"
	"time"

	"octet/adapters"
	"octet/engine"
	"octet/gateway/doors"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/place"
	"octet/gateway/receipt"
	"octet/gateway/stream"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// turn is what a request holds of the replica that answers it, from the breaker's permit to the end of the answer.
type turn struct {
	rep       *ensemble.Replica // nil between turns
	step      routing.Step
	leg       bool             // a step before the last
	unasked   bool             // nothing was sent to it, or its answer was not waited for: a good end says nothing
	at        *receipt.Attempt // its entry in the receipt
	place     place.Place
	hop       ensemble.Hop    // of the last step
	asked     time.Time       // when the Gate said yes, by time.Now; zero where the gateway has another clock
	sent      engine.Request  // what the engine was asked last; Clients are done with it when they have answered
	resp      engine.Response // nil before the head
	hurriedBy time.Time       // the client's first-token deadline, where the engine was given what is left of it
	handed    bool            // the engine was sent a prompt that another has computed
	forgot    bool            // it was asked again without
	noUsage   bool            // likewise without asking for the usage, which it may have refused the request for
	native    doors.Native    // reads its answer, which is in the words of the client's door; nil for a chat completion
	adapter   adapters.Hold   // on the request's adapter, at the replica
	lost      bool            // its engine had lost the adapter
	chats     bool            // it was asked again for a chat completion: it does not serve the door
}

// begin makes it a replica's turn at a step.
func (d *Dispatch) begin(rep *ensemble.Replica, at *receipt.Attempt, s *routing.Step) {
	d.settle(fault.ErrAbandoned) // nothing, unless an attempt was left without its end
	t := &d.turn
	t.rep, t.at, t.step, t.leg = rep, at, *s, s.Name != d.steps.answering
	t.step.Ranked = nil // in the memory of the routing
	d.Relay.NewEngine()
	t.place = place.New(rep.Fleet, rep.Gate, d.Plan.Specialist.BlockSize)
	t.place.Asked = d.held.pass
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
func (d *Dispatch) settle(err error) {
	t := &d.turn
	if t.rep == nil {
		return
	}
	d.retry.learn(err, t, d.Timer.Now)
	t.leave()
	verdict := fault.VerdictOf(err)
	if !d.Relay.Heard() && errors.Is(err, fault.ErrEngineFailed) {
		d.doubts.note(t.rep.Fleet, t.place.Doubt(), d.Request)
	}
	strayed := errors.Is(err, stream.ErrStrayed)
	switch {
	case strayed:
		t.rep.Reasoning.Store(ensemble.ReasoningHidden)
	case d.Relay.ReasoningShown():
		t.rep.Reasoning.Store(ensemble.ReasoningShown)
	}
	if t.unasked && verdict == fleet.Succeeded || strayed {
		verdict = fleet.Cancelled
	}
	t.place.Close(verdict)
	t.adapter.Release()
	noteEnd(t.rep.Fleet, err, verdict)
	t.at.Served(t.rep.Revision())
	d.closeAttempt(t.at, err)
	d.turn = turn{}
}

// noteEnd tells a replica's health of a request that ended with err.
func noteEnd(rep *fleet.Replica, err error, verdict fleet.Outcome) {
	switch {
	case errors.Is(err, engine.ErrConnect):
		rep.OnConnectFailure()
	case errors.Is(err, engine.ErrReset), errors.Is(err, fault.ErrEngineAborted):
		rep.ProbeSoon()
	case verdict == fleet.Succeeded:
		rep.OnSuccess()
	}
}

// openAttempt records the start of a replica's turn, so long after the arrival, and what is foretold of its cache.
func (d *Dispatch) openAttempt(step string, rep *ensemble.Replica, host index.HostID,
	began time.Duration) *receipt.Attempt {
	d.predicted = d.Plan.Predicted(host)
	d.known, d.foretold = d.Plan.Foretold(host)
	d.Cached = d.predicted
	if d.predicted > 0 && !d.Plan.Prompt.Exact {
		d.Cached = d.Plan.Specialist.Metrics.Ratio.Tokens(d.predicted)
	}
	at := d.Receipt.Attempt(d.Plan.Specialist.Name, step, rep.Name, max(0, d.Cached), began)
	at.Weights(rep.Revision())
	d.Trace.Turn(began)
	return at
}

// closeAttempt records the end of a turn.
func (d *Dispatch) closeAttempt(at *receipt.Attempt, err error) {
	ended := d.Relay.Ended()
	if ended == 0 {
		ended = d.Timer.Since()
	}
	d.Timer.Note(ended)
	d.Trace.TurnEnded(ended)
	if err == nil {
		at.Close(ended, receipt.OK, "")
		return
	}
	at.Close(ended, fault.Outcome(err), fault.Detail(err))
	d.Shared.Metrics.AttemptFailed(d.Plan.Specialist.Name, at.Outcome)
}

// report tells what an engine's own errors mean.
func (a attempt) report() fault.Report {
	return fault.Report{Request: a.Request, Specialist: a.Plan.Specialist.Name, Replica: a.turn.rep, Runtime: a.Runtime}
}

// reportOf is report of the engine of a leg beside, for its goroutine: it does not read the request.
func (a attempt) reportOf(rep *ensemble.Replica) fault.Report {
	return fault.Report{Specialist: a.Plan.Specialist.Name, Replica: rep, Runtime: a.Runtime}
}

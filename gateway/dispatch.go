package gateway

import (
	"context"
	"errors"
	"strconv"
	"time"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/place"
	"octet/gateway/stream"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// Dispatch is one replica's turn. At the last step it goes up to the answer's first byte: breaker, admission, engine.
// Until then its errors are retryable; from then on respond follows the answer to its end. Any other step ends here,
// see leg.
func (x *exchange) Dispatch(ctx context.Context, s routing.Step, host index.HostID, _ int) error {
	rep := x.rt.Replicas[host] // of the generation whose plan names host
	x.free = true
	began := x.moment()
	at := x.openAttempt(s.Name, rep, host, began)
	if s.Name != x.answering {
		return x.leg(ctx, s, rep, at)
	}
	x.attempts++
	x.begins(rep, at, &s)
	x.relay.Cont = nil
	if x.continuable(rep) {
		x.relay.Cont = new(stream.Continuation)
	}
	err := x.attempt(ctx, began)
	if x.request.Stream && (err == nil || errors.Is(err, place.ErrPreempted) && x.relay.Unfinished()) {
		return nil
	}
	x.settle(err)
	if err == nil || x.relay.Begun() {
		return err
	}
	return again(err)
}

// elsewhere says whether another replica may do better.
func elsewhere(err error) bool {
	return errors.Is(err, scheduler.ErrRefused) && !errors.Is(err, scheduler.ErrDeadline) ||
		errors.Is(err, engine.ErrConnect) || errors.Is(err, engine.ErrLocal) || errors.Is(err, engine.ErrReset) ||
		errors.Is(err, engine.ErrProtocol) ||
		errors.Is(err, errEngineFailed) || errors.Is(err, errEngineBusy) || errors.Is(err, errHandover)
}

// attempt gets the answer of one replica under way. Preempted before the client has a byte of it, it queues again;
// after that, see resume.
func (x *exchange) attempt(ctx context.Context, began time.Duration) (err error) {
	if err = x.turn.place.Permit(x.At(began)); err != nil {
		return err
	}
	for ; ; began = x.Since() {
		x.turn.place.Watch(ctx)
		if err = x.enter(ctx, began); err != nil {
			return err
		}
		err = x.call()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, place.ErrPreempted) && !x.relay.Begun():
			x.preempted++
		case !x.doWithout(err):
			return err
		}
		x.turn.leave()
	}
}

// enter asks the replica's Gate, from began on since the arrival. A request of higher priority may take the place back
// until the first token.
func (x *exchange) enter(ctx context.Context, began time.Duration) error {
	now := x.At(began)
	r := gate.Request{Now: now}
	x.admissionRequest(&r, x.turn.leg)
	if len(x.held) > 0 {
		x.yieldHeld(&r)
	}
	in, err := x.turn.place.Admit(ctx, &r, x.demand(), x)
	if !in.Equal(now) {
		x.noteQueue(x.turn.at, in.Sub(now))
	}
	switch {
	case err == nil:
	case errors.Is(context.Cause(ctx), errDeadline):
		after, every := x.turn.rep.Gate.Vacancy()
		return &scheduler.Refusal{Reason: scheduler.ErrDeadline, RetryAfter: after, Every: every,
			Detail: "the deadline passed in the queue"}
	default:
		x.turnedAway.refused(err)
		return place.Cause(ctx, err)
	}
	x.free = false
	x.countAdmission()
	if x.s.ownClock {
		x.turn.asked = in
	}
	if x.route != nil {
		x.sp.Routed(x.route.View(), x.turn.rep, in)
	}
	return nil
}

// demand is what the replica whose turn it is has to do, as far as the gateway knows. It includes what the replica has
// already given of the answer.
func (x *exchange) demand() fleet.Demand {
	tokens := x.prompt.Tokens + x.relay.Delivered()
	d := fleet.Demand{Prompt: tokens, Uncached: tokens - x.predicted, Whole: !x.request.Stream && !x.turn.leg}
	if !x.turn.leg && x.relay.Delivered() == 0 && (len(x.held) > 0 || x.beside != nil) {
		d.Uncached = 0 // another has computed it
	}
	return d
}

// call sends the request and brings the answer so far that the client has its first byte, or all of a unary one.
func (x *exchange) call() error {
	t := &x.turn
	defer t.place.Unwatch()
	if err := x.sendBeside(t.place.Context()); err != nil {
		return err
	}
	hop, err := x.lastHop()
	if err != nil {
		return err
	}
	if t.resp, err = x.ask(t.place.Context(), hop); err != nil {
		return t.place.Cause(x.relay.Late(x.turn.hurriedBy, err))
	}
	switch {
	case t.resp.Status() != 200:
		return x.engineRefused(t.resp)
	case x.request.Stream:
		return t.place.Cause(x.meaning(x.relay.Open(x.source())))
	}
	return t.place.Cause(x.meaning(x.relay.Whole(x.source())))
}

// lastHop is what this replica is sent for the answer. An answer that goes on from its text owes nothing to earlier
// steps.
func (x *exchange) lastHop() (*ensemble.Hop, error) {
	hop := &x.turn.hop
	x.prepare(hop, &x.turn.step, x.turn.rep)
	if x.relay.Cont.Base() > 0 {
		return hop, nil
	}
	err := x.protocol.Request(hop)
	x.turn.handed = hop.Handed
	return hop, err
}

// ask patches the body for a replica and sends it. Everything else of it is forwarded as it came.
func (x *exchange) ask(ctx context.Context, hop *ensemble.Hop) (engine.Response, error) {
	budget, err := x.patience(x.relay.Delivered())
	if err != nil {
		return nil, err
	}
	segments, err := x.segmentsOf(hop, x.request.Segments[:0])
	if err != nil {
		return nil, err
	}
	x.request.Segments = segments
	x.engineRequest(&x.turn.sent, hop, segments, budget)
	return hop.Replica.Client.Do(ctx, &x.turn.sent)
}

func (x *exchange) segmentsOf(hop *ensemble.Hop, dst [][]byte) ([][]byte, error) {
	if hop.Body != nil {
		return append(dst, hop.Body), nil
	}
	return x.request.Parsed.Splice(hop.Edits, dst)
}

// engineRequest makes r what hop's engine is asked.
func (x *exchange) engineRequest(r *engine.Request, hop *ensemble.Hop, segments [][]byte, budget patience) {
	x.hint(hop)
	for _, name := range x.request.Via() { // this gateway's own name is its client's to send
		hop.AddField(engine.Via, name)
	}
	r.Method, r.Path, r.Segments, r.RequestID, r.Stream = "POST", hop.Path, segments, x.request.ID, hop.Stream
	r.Bearer, r.Fields, r.Again = hop.Replica.APIKey, hop.Fields, x.s.again
	r.At, r.HeaderTimeout, r.IdleTimeout = budget.from, budget.limit, budget.limit
}

// edits appends the members of the body that must change for this replica.
func (x *exchange) edits(rep *ensemble.Replica, edits []wire.Edit) []wire.Edit {
	if model, quoted := rep.ModelName(x.decision.Adapter); x.request.Parsed.Model != model {
		edits = append(edits, wire.Edit{Key: "model", Raw: quoted})
	}
	if rep.ForwardPriority && x.request.Intent.Priority != 0 {
		edits = append(edits, wire.Edit{Key: "priority",
			Raw: strconv.AppendInt(nil, int64(rep.Kind.Priority(x.request.Intent.Priority)), 10)})
	}
	return x.relay.Cont.Edits(x.request.Salted().Edits(rep, edits), &x.request.Parsed, x.request.Kind)
}

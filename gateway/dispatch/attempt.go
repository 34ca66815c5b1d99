package dispatch

import (
	"context"
	"errors"
	"net/http"
	"time"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/place"
	"octet/gateway/stream"
	"octet/gateway/upstream"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// mostPreemptions is how often one request gives way; then it keeps its place to the end.
const mostPreemptions = 4

// Dispatch implements routing.Dispatcher: one replica's turn. At the last step it goes up to the answer's first byte:
// breaker, admission, engine. Until then its errors are retryable. Any other step ends here, see leg.
func (d *Dispatch) Dispatch(ctx context.Context, s routing.Step, host index.HostID, _ int) error {
	rep := d.Runtime.Replicas[host] // of the generation whose plan names host
	d.retry.free = true
	began := d.Timer.Moment()
	at := d.openAttempt(s.Name, rep, host, began)
	if s.Name != d.steps.answering {
		return d.dispatchLeg(ctx, s, rep, at)
	}
	d.Attempts++
	d.begin(rep, at, &s)
	d.Relay.Cont = nil
	if d.Courier == nil && continuable(d.Request, rep) {
		d.Relay.Cont = new(stream.Continuation)
	}
	err := d.attempt(ctx, began)
	if d.Request.Stream && (err == nil || errors.Is(err, place.ErrPreempted) && d.Relay.Unfinished()) {
		return nil
	}
	d.settle(err)
	if err == nil || d.Relay.Begun() || d.carried {
		return err
	}
	if fault.CauseOf(err) == fault.ByReplica || fault.TooShort(err) {
		d.heirs.died.Set(host) // see Misses
	}
	return fault.Again(err)
}

// attempt gets the answer of one replica under way. Preempted before the client has a byte of it, it queues again;
// after that, see resume.
func (d *Dispatch) attempt(ctx context.Context, began time.Duration) (err error) {
	if err = d.turn.place.Permit(d.Timer.At(began)); err != nil {
		return err
	}
	for ; ; began = d.Timer.Since() {
		d.turn.place.Watch(ctx)
		if err = d.enter(ctx, began); err != nil {
			return err
		}
		err = d.mistaken(d.call())
		switch {
		case err == nil || d.carried:
			return err
		case errors.Is(err, place.ErrPreempted) && !d.Relay.Begun():
			d.Preempted++
		case !d.doWithout(err) && !d.doWithoutUsage(err) && !d.doWithoutDoor(err) &&
			!d.lostAdapter(ctx, err):
			return err
		}
		d.turn.leave()
	}
}

// enter asks the replica's Gate, from began on since the arrival. A request of higher priority may take the place back
// until the first token.
func (d *Dispatch) enter(ctx context.Context, began time.Duration) error {
	if err := d.short(); err != nil {
		return err
	}
	began, err := d.holdAdapter(ctx, began)
	if err != nil {
		return err
	}
	now := d.Timer.At(began)
	q := gate.Request{Now: now}
	d.admission(&q, d.turn.leg)
	if !d.turn.leg {
		d.steps.yield(&q, d.turn.rep.Gate)
	}
	in, err := d.turn.place.Admit(ctx, &q, d.demand(), d.Timer)
	d.turn.at.Reckoned(reckoned(&q, err))
	if !in.Equal(now) {
		d.turn.at.Queued(in.Sub(now))
		d.Queued += in.Sub(now)
	}
	d.Trace.Queued(began, began+in.Sub(now), err)
	cause := place.Cause(ctx, err)
	switch {
	case err == nil:
	case errors.Is(cause, fault.ErrDeadline):
		after, every := d.turn.rep.Gate.Vacancy()
		return &scheduler.Refusal{Reason: scheduler.ErrDeadline, RetryAfter: after, Every: every,
			Detail: "the deadline passed in the queue"}
	default:
		d.away.refused(err)
		return cause
	}
	if q.Draft > 0 {
		d.turn.at.Speculate(d.turn.place.Speculative())
	}
	d.admitted(in)
	return nil
}

// short returns place.ErrShort if the request is longer than the context of the replica whose turn it is, as far as its
// tokens are counted, and another replica may take it.
func (d *Dispatch) short() error {
	most := d.turn.rep.MaxContext()
	if most == 0 || !d.Plan.Prompt.Exact || d.Request.Intent.Replica != "" {
		return nil
	}
	answer := max(d.Request.Parsed.MaxTokens, d.Relay.Delivered()+1)
	if d.Plan.Prompt.LongestPrompt()+answer <= most || !d.turn.rep.Shorter(d.Runtime) {
		return nil
	}
	return place.ErrShort
}

// admitted notes a place that was given at a time.
func (d *Dispatch) admitted(in time.Time) {
	d.retry.free = false
	d.turn.at.Placed(d.turn.rep.Revision()) // it may serve others than before the wait
	if !d.Admitted {
		d.Admitted = true
		d.away.served(d.Plan.Specialist, d.Request)
		d.Plan.Specialist.Metrics.Admit(d.Request.Intent.Priority)
	}
	if d.Shared.WallClock {
		d.turn.asked = in
	}
	d.Plan.Admitted(d.turn.rep, in)
}

// admission makes q what the Gate is asked: for the answer, or for a leg before it. All else of q is zero.
func (d *Dispatch) admission(q *gate.Request, leg bool) {
	d.Plan.Admission(d.Request, q)
	q.Paid, q.Resume = d.Preempted > 0, d.Relay.Delivered()
	q.Victim = d.Preempted < mostPreemptions && (leg || d.Courier == nil)
	if q.Resume == 0 { // an answer that has begun has no other choice
		q.OfferBack, q.Sooner, q.AtOnce = d.Choice.OfferBack, d.Choice.Sooner, d.Choice.AtOnce
	}
	q.Held = d.known
	q.Returns = d.away.returnsTo(d.Plan.Specialist)
	if leg { // the prompt, and the one token that shows that it is computed
		q.MaxNew, q.N, q.Draft, q.OfferBack = 1, 1, 0, false
	}
}

// demand is what the replica whose turn it is has to do, as far as the gateway knows. It includes what the replica has
// already given of the answer.
func (d *Dispatch) demand() fleet.Demand {
	tokens, delivered := d.Plan.Prompt.Tokens+d.Relay.Delivered(), d.Relay.Delivered()
	q := fleet.Demand{Prompt: tokens, Uncached: tokens - d.predicted, Whole: !d.Request.Stream && !d.turn.leg}
	if !d.turn.leg && delivered == 0 && d.steps.holding() {
		q.Uncached = 0 // another has computed it
	}
	return q
}

// call sends the request and brings the answer so far that the client has its first byte, or all of a unary one.
func (d *Dispatch) call() error {
	t := &d.turn
	defer t.place.Unwatch()
	if err := d.steps.beside.send(d, t.place.Context()); err != nil {
		return err
	}
	hop, err := d.lastHop()
	if err != nil {
		return err
	}
	if t.resp, err = d.ask(t.place.Context(), hop); err != nil {
		d.Taken = d.Taken || !errors.Is(err, engine.ErrConnect) && !errors.Is(err, engine.ErrLocal) // it may have
		return t.place.Cause(d.Relay.Late(t.hurriedBy, err))
	}
	d.Taken = d.Taken || t.resp.Status() == 200
	switch {
	case t.resp.Status() != 200:
		return d.refused()
	case d.Request.Stream:
		d.takenUp()
		return t.place.Cause(d.aborted(d.report().Meaning(d.Relay.Open(d.source()))))
	}
	d.takenUp()
	return t.place.Cause(d.aborted(d.report().Meaning(d.Relay.Whole(d.source()))))
}

// refused is what an engine's answer other than 200 means. One that cannot serve now may have been put to sleep by
// another gateway, or by hand: the request is one for a sleeper then.
func (d *Dispatch) refused() error {
	t := &d.turn
	err := d.report().Refused(t.resp)
	if t.resp.Status() == http.StatusServiceUnavailable && t.rep.FellAsleep(t.place.Context()) {
		return place.ErrAsleep
	}
	return err
}

// aborted returns err, or place.ErrAsleep if it is of an answer that the engine has given up to sleep, and of which the
// client has nothing.
func (d *Dispatch) aborted(err error) error {
	t := &d.turn
	if errors.Is(err, fault.ErrEngineAborted) && !d.Relay.Begun() && t.rep.FellAsleep(t.place.Context()) {
		return place.ErrAsleep
	}
	return err
}

// lastHop is what this replica is sent for the answer. An answer that goes on from its text owes nothing to earlier
// steps.
func (d *Dispatch) lastHop() (*ensemble.Hop, error) {
	hop := &d.turn.hop
	d.prepare(hop, &d.turn.step, d.turn.rep)
	d.turn.native = nil
	if d.Relay.Cont.Base() > 0 || d.native(hop) {
		return hop, nil
	}
	err := d.steps.protocol.Request(hop)
	d.turn.handed = hop.Handed
	return hop, err
}

// prepare makes h what a step sends to a replica, before its Protocol has seen it.
func (d *Dispatch) prepare(h *ensemble.Hop, s *routing.Step, rep *ensemble.Replica) {
	*h = ensemble.Hop{}
	h.Step, h.Last, h.Replica, h.Answerer = *s, s.Name == d.steps.answering, rep, d.steps.answerer
	h.NoUsage = d.turn.noUsage
	upstream.Prepare(h, d.Request, d.Plan.Adapter, d.Relay.Cont)
}

// ask sends a hop to its replica. What the Protocol does not change of the client's body is forwarded as it came.
func (d *Dispatch) ask(ctx context.Context, hop *ensemble.Hop) (engine.Response, error) {
	budget, err := d.patience(d.Relay.Delivered())
	if err != nil {
		return nil, err
	}
	segments, err := upstream.Segments(hop, d.Request, d.Request.Segments[:0])
	if err != nil {
		return nil, err
	}
	d.Request.Segments = segments
	d.tell(hop, d.Trace.Ask())
	d.fill(&d.turn.sent, hop, segments, budget)
	if d.Courier != nil && hop.Last {
		d.carried = true
		return d.Courier.Do(ctx, hop.Replica, &d.turn.sent)
	}
	return hop.Replica.Client.Do(ctx, &d.turn.sent)
}

// tell has the engine of a hop be told its part in the request's trace.
func (d *Dispatch) tell(hop *ensemble.Hop, parent string) {
	if d.Trace != nil {
		upstream.Trace(hop, parent, d.Trace.State)
	}
}

// fill makes q what the engine of a hop is asked.
func (d *Dispatch) fill(q *engine.Request, hop *ensemble.Hop, segments [][]byte, budget patience) {
	if d.Relay.Cont.Base() == 0 {
		d.Plan.Hint(hop)
	}
	upstream.Fill(q, hop, d.Request, segments)
	q.Again = d.Shared.Again
	q.At, q.HeaderTimeout, q.IdleTimeout = budget.from, budget.limit, budget.limit
}

// source is the engine whose turn it is.
func (d *Dispatch) source() stream.Source {
	t := &d.turn
	s := stream.Source{
		Engine: &t.rep.Kind, Request: &d.Request.Parsed, Response: t.resp, Place: &t.place, Shape: &t.rep.Answers,
		Rewriter: d.steps.protocol, Context: d.Plan.Specialist.MaxContext(), Board: d.Plan.Specialist.Board,
		Native: t.native, Handed: t.handed, Reasons: t.rep.Reasons(),
		Proved: t.rep.SeenToReason(), FirstTokenBy: t.hurriedBy,
	}
	if d.steps.holding() {
		s.Held = d.steps.holding
	}
	return s
}

package dispatch

import (
	"context"
	"errors"
	"time"

	"octet/gateway/fault"
	"octet/gateway/place"
	"octet/gateway/plan"
	"octet/gateway/stream"
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
	err := attempt{d}.run(ctx, began)
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

// attempt is what a replica's turn does, from the breaker's permit to the first byte of its answer.
type attempt struct{ *Dispatch }

// run gets the answer of one replica under way. Preempted before the client has a byte of it, it queues again; after
// that, see resume.
func (a attempt) run(ctx context.Context, began time.Duration) (err error) {
	if err = a.turn.place.Permit(a.Timer.At(began)); err != nil {
		return err
	}
	for ; ; began = a.Timer.Since() {
		a.turn.place.Watch(ctx)
		if err = a.enter(ctx, began, a.most()); err != nil {
			return err
		}
		err = a.mistaken(a.call())
		switch {
		case err == nil || a.carried:
			return err
		case errors.Is(err, place.ErrPreempted) && !a.Relay.Begun():
			a.Preempted++
		case !a.doWithout(err) && !a.doWithoutUsage(err) && !a.doWithoutDoor(err) &&
			!a.lostAdapter(ctx, err):
			return err
		}
		a.turn.leave()
	}
}

// most is how many tokens the answer may have.
func (a attempt) most() int { return max(a.Request.Parsed.MaxTokens, a.Relay.Delivered()+1) }

// enter asks the replica's Gate, from began on since the arrival, for the prompt and so many tokens at most. A request
// of higher priority may take the place back until the first token.
func (a attempt) enter(ctx context.Context, began time.Duration, most int) error {
	if err := a.short(most); err != nil {
		return err
	}
	began, err := a.holdAdapter(ctx, began)
	if err != nil {
		return err
	}
	now := a.Timer.At(began)
	q := gate.Request{Now: now}
	a.admission(&q, a.turn.leg)
	if !a.turn.leg {
		a.steps.yield(&q, a.turn.rep.Gate)
	}
	in, err := a.turn.place.Admit(ctx, &q, a.demand(), a.Timer)
	a.turn.at.Reckoned(reckoned(&q, err))
	if !in.Equal(now) {
		a.turn.at.Queued(in.Sub(now))
		a.Queued += in.Sub(now)
	}
	a.Trace.Queued(began, began+in.Sub(now), err)
	cause := place.Cause(ctx, err)
	switch {
	case err == nil:
	case errors.Is(cause, fault.ErrDeadline):
		after, every := a.turn.rep.Gate.Vacancy()
		return &scheduler.Refusal{Reason: scheduler.ErrDeadline, RetryAfter: after, Every: every,
			Detail: "the deadline passed in the queue"}
	default:
		a.away.refused(err)
		return cause
	}
	if q.Draft > 0 {
		a.turn.at.Speculate(a.turn.place.Speculative())
	}
	a.admitted(in)
	return nil
}

// short returns place.ErrShort if the prompt and so many tokens are more than the context of the replica whose turn it
// is, as far as they are counted, and another replica may take them.
func (a attempt) short(answer int) error {
	if a.Request.Intent.Replica != "" || a.Plan.Fits(a.turn.rep, answer) || !a.turn.rep.Shorter(a.Runtime) {
		return nil
	}
	return place.ErrShort
}

// admitted notes a place that was given at a time.
func (a attempt) admitted(in time.Time) {
	a.retry.free = false
	a.turn.at.Placed(a.turn.rep.Revision()) // it may serve others than before the wait
	if !a.Admitted {
		a.Admitted = true
		a.away.served(a.Plan.Specialist, a.Request)
		a.Plan.Specialist.Metrics.Admit(a.Request.Intent.Priority)
	}
	if a.Shared.WallClock {
		a.turn.asked = in
	}
	a.Plan.Admitted(a.turn.rep, in)
}

// admission makes q what the Gate is asked: for the answer, or for a leg before it. All else of q is zero.
func (a attempt) admission(q *gate.Request, leg bool) {
	a.Plan.Admission(a.Request, q)
	q.Paid, q.Resume = a.Preempted > 0, a.Relay.Delivered()
	q.Victim = a.Preempted < mostPreemptions && (leg || a.Courier == nil)
	if q.Resume == 0 { // an answer that has begun has no other choice
		q.OfferBack, q.Sooner, q.AtOnce = a.Choice.OfferBack, a.Choice.Sooner, a.Choice.AtOnce
	}
	q.Held = a.known
	q.Returns = a.away.returnsTo(a.Plan.Specialist)
	if leg {
		plan.PromptAlone(q)
		q.OfferBack = false
	}
}

// demand is what the replica whose turn it is has to do, as far as the gateway knows. It includes what the replica has
// already given of the answer.
func (a attempt) demand() fleet.Demand {
	tokens, delivered := a.Plan.Prompt.Tokens+a.Relay.Delivered(), a.Relay.Delivered()
	q := fleet.Demand{Prompt: tokens, Uncached: tokens - a.predicted, Whole: !a.Request.Stream && !a.turn.leg}
	if !a.turn.leg && delivered == 0 && a.steps.holding() {
		q.Uncached = 0 // another has computed it
	}
	return q
}

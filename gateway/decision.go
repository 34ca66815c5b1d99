package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/decide"
	"octet/gateway/dispatch"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/receipt"
	"octet/gateway/shadow"
	"octet/gateway/upstream"
	"octet/routing"
	"octet/scheduler"
)

// decide picks the specialist. A request that is refused on the way has a receipt of what was decided so far.
func (x *exchange) decide(ctx context.Context) error {
	if x.trace == nil {
		return x.choose(ctx)
	}
	began := x.Since()
	err := x.choose(ctx)
	x.trace.Classified(began, x.Since(), err)
	return err
}

// choose is decide without a trace.
func (x *exchange) choose(ctx context.Context) error {
	r, d, s := &x.request, &x.decision, x.s
	if !r.Dry {
		s.shared.Retries.Earn(r.Arrival)
	}
	if err := s.decider.Route(ctx, x.rt, r, d); err != nil {
		if d.Specialist != "" && !r.Tenant.Permits(d.Specialist) {
			return forbidden(d.Specialist) // which adapters it has is not told
		}
		return err
	}
	if !r.Dry {
		s.shadows.Comparer.Records.Tally(&d.Verdict)
	}
	x.receipt.Open(r.ID, r.Kind.String(), r.Arrival, askedOf(r))
	noteDecision(&x.receipt, d, x.rt)
	if !r.Tenant.Permits(d.Specialist) {
		return forbidden(d.Specialist)
	}
	if err := x.relieve(); err != nil {
		return err
	}
	if !r.Dry && s.audit.Wants() {
		x.answer.judged = true
		x.relay.Transcript.Keep(s.audit.Largest())
	}
	return checkLength(d.In(x.rt), r)
}

func forbidden(specialist string) *apierr.Error {
	return apierr.New(apierr.PermissionDenied, "model", fmt.Sprintf("this key may not use %q", specialist))
}

// relieve changes the decision by what is in force.
func (x *exchange) relieve() error {
	r, d, decider := &x.request, &x.decision, &x.s.decider
	if err := decider.Relieve(x.rt, r, d); err != nil {
		return err
	}
	if d.Specialist != x.receipt.Decision().Specialist || d.Demoted != "" {
		noteDecision(&x.receipt, d, x.rt)
	}
	return decider.Floor(x.rt, r, d)
}

// askedOf is what a receipt says of what a client asked for.
func askedOf(r *intake.Request) receipt.Asked {
	in := &r.Intent
	return receipt.Asked{
		Model: r.Parsed.Model, Intent: in.Intent, Adapter: in.Adapter, Replica: in.Replica,
		Session:  in.Session != "",
		Priority: in.Asked, PriorityInUse: in.Priority,
		DeadlineMs: msUntil(r.Arrival, in.Deadline), TTFTDeadlineMs: msUntil(r.Arrival, in.TTFTDeadline),
		Stream: r.Stream, Policy: r.Parsed.Policy().String(), MaxTokens: max(r.Parsed.MaxTokens, 0),
	}
}

func msUntil(from, to time.Time) int64 {
	if to.IsZero() {
		return 0
	}
	return to.Sub(from).Milliseconds()
}

// noteDecision records a decision as it is now.
func noteDecision(draft *receipt.Draft, d *decide.Decision, rt *ensemble.Runtime) {
	draft.Decide(&d.Verdict, d.Demoted, d.Probe, d.Named())
	draft.Lane(d.Version(rt), d.OnProbation)
	if sp := d.In(rt); sp != nil {
		draft.Base(sp.Version)
	}
	draft.ShadowWhy(string(d.ShadowWhy()))
}

// checkLength refuses answers that cannot fit in the specialist's context however short the prompt is.
func checkLength(sp *ensemble.Specialist, r *intake.Request) error {
	most, asked := sp.MaxContext(), r.Parsed.MaxTokens
	if most > 0 && asked >= most {
		return apierr.New(apierr.ContextLength, "max_tokens",
			fmt.Sprintf("max_tokens is %d, the context of %s is %d", asked, sp.Name, most))
	}
	return nil
}

// serve has a replica of the decision's specialist answer, within what the choice between two asks of it. While no
// replica serves, the request is held.
func (x *exchange) serve(ctx context.Context, choice dispatch.Choice) error {
	for {
		err := x.serveNow(ctx, choice)
		if err := x.chargeHeld(err); err != nil {
			return err
		}
		again, err := x.dispatch.Hold(ctx, err)
		switch {
		case errors.Is(err, dispatch.ErrGone):
			return x.gone()
		case !again:
			return err
		}
		x.rt = x.dispatch.Runtime
		x.decision.Renew()
	}
}

// gone is what a request is told whose specialist a reload has removed while it was held, there or at its second
// choice. One that the router sent there goes to another when it comes again.
func (x *exchange) gone() error {
	if x.decision.ByName() {
		return apierr.New(apierr.ModelNotFound, "model",
			fmt.Sprintf("there is no specialist %q any more", x.decision.Specialist))
	}
	return &scheduler.Refusal{Reason: scheduler.ErrNoReplica, RetryAfter: time.Second,
		Detail: fmt.Sprintf("there is no specialist %q any more, to which it was routed", x.decision.Specialist)}
}

// chargeHeld asks the tenant's rate and budget for a request before that is held, by the length of its text: its prompt
// is counted where it is routed, and asked for then beyond that. What is not used is given back at the end.
func (x *exchange) chargeHeld(err error) error {
	h := &x.holding
	if h.charged > 0 || !x.dispatch.MayBeHeld(err) || !x.request.Tenant.Metered() {
		return nil
	}
	if err := h.charge(&x.request, max(len(x.request.Render(nil))/bytesPerToken, 1), x.Now); err != nil {
		return err
	}
	h.guessed = h.charged > 0
	return nil
}

// bytesPerToken is about what tokenizers come to.
const bytesPerToken = 4

// serveNow is serve for a request that is not held.
func (x *exchange) serveNow(ctx context.Context, choice dispatch.Choice) error {
	sp := x.decision.In(x.rt)
	if sp == nil {
		return x.gone()
	}
	x.dispatch.Choice = choice
	x.relay.Terms = upstream.Terms(&x.request, &x.rt.Limits)
	if err := x.dispatch.Behind(sp); err != nil {
		return err
	}
	plan, err := x.dispatch.Route(ctx, sp, sp.Edition(x.decision.Adapter))
	if err != nil {
		return x.lacking(sp, err)
	}
	if err := x.dispatch.Plan.Check(&x.request); err != nil {
		return err
	}
	if err := x.holding.charge(&x.request, x.dispatch.Plan.Prompt.Tokens, x.Now); err != nil {
		return err
	}
	x.beginShadow()
	for again := range x.rt.Limits.MaxAttempts + 1 {
		if err = x.dispatch.Run(plan); !x.dispatch.Misses(err) || again == x.rt.Limits.MaxAttempts {
			return err
		}
		// a replica did not load the adapter, or another edition is in force: it goes where that can be had; or all
		// replicas failed, and others have come
		if x.rt != x.dispatch.Runtime {
			x.rt = x.dispatch.Runtime
			x.decision.Renew()
			sp = x.decision.In(x.rt)
		}
		next, none := x.dispatch.Route(ctx, sp, sp.Edition(x.decision.Adapter))
		if none != nil {
			return x.dispatch.Why(err, none)
		}
		plan = next
	}
	return err
}

// beginShadow begins the copy that the decision asks for, once: with the request's first turn at a replica, not before.
// A request that is held may have no answer to compare a copy's with.
func (x *exchange) beginShadow() {
	if !x.copied && !x.request.Dry {
		x.copied = true
		x.shadow = x.s.shadows.Begin(x.rt, &x.request, &x.decision,
			shadow.Primary{Receipt: &x.receipt, Answer: &x.relay, Trace: x.trace})
	}
}

// edition returns the name of the decision's adapter in the engines of its specialist; "" without an adapter.
func (x *exchange) edition() string {
	if sp := x.decision.In(x.rt); sp != nil {
		return sp.Edition(x.decision.Adapter)
	}
	return x.decision.Adapter
}

// lacking returns why a request has no replica that can hold its adapter; err where that is not the reason.
func (x *exchange) lacking(sp *ensemble.Specialist, err error) error {
	var none *routing.NoCandidateError
	if x.decision.Adapter == "" || sp.Keeper == nil || !errors.As(err, &none) || none.Filter != "adapter" {
		return err
	}
	served := sp.Edition(x.decision.Adapter)
	if x.tripped(sp, served) {
		none.Filter, none.Verdict = "breaker", routing.BreakerOpen
		return none
	}
	return sp.Keeper.Nowhere(x.decision.Adapter, served)
}

// tripped reports whether a replica has the adapter, or would load it, whose breaker admits nothing now.
func (x *exchange) tripped(sp *ensemble.Specialist, served string) bool {
	hosts, _ := sp.Keeper.Serving(served, func(h uint16) bool {
		rep := x.rt.Replicas[h]
		return rep != nil && rep.Fleet.Available() && !rep.Fleet.Admits()
	})
	return len(hosts) > 0
}

// elsewhere reports whether the second choice may do better after err: on a refusal that another specialist may not
// share.
func elsewhere(err error) bool {
	return errors.Is(err, scheduler.ErrRefused) && !errors.Is(err, scheduler.ErrExceedsPool)
}

// serveSecond has the second choice answer where the first refused, if it is less loaded: it has a place sooner than
// the wait that the first foresees, or at once if the first foresees none that is known. Otherwise the request waits at
// the first, which had only offered it back, or is refused by it.
func (x *exchange) serveSecond(ctx context.Context, refused error) error {
	var no *scheduler.Refusal
	first, offered := x.decision.Verdict, errors.As(refused, &no) && no.Offered
	kept := x.dispatch.Refused()
	x.shadow.Forgo() // it is asked as the first now
	x.copied = true
	x.decision.Verdict, _ = first.SecondChoice()
	x.noteChoice()
	err := x.serve(ctx, dispatch.Choice{Sooner: kept.Wait(), AtOnce: kept.Wait() == 0})
	if err == nil || x.relay.Begun() || !yields(err) {
		return err
	}
	x.decision.Verdict = first
	x.noteChoice()
	if offered {
		return x.serve(ctx, dispatch.Choice{})
	}
	x.dispatch.ReturnTo(kept)
	return refused
}

// noteChoice records which of two choices is to answer.
func (x *exchange) noteChoice() {
	x.s.decider.NoteProbation(&x.decision)
	noteDecision(&x.receipt, &x.decision, x.rt)
}

// yields reports whether a second choice that ended in err leaves the request to the first: it refused, no replica of
// it can serve, or the gateway knows that it cannot take the request, as the first may.
func yields(err error) bool {
	if bad, is := errors.AsType[*apierr.Error](err); is && bad.Cause == nil { // no engine said so
		return slices.Contains(cannotTake, bad.Code)
	}
	var none *routing.NoCandidateError
	return errors.Is(err, scheduler.ErrRefused) || errors.As(err, &none)
}

// cannotTake are the codes of what one specialist cannot take, and another may.
var cannotTake = []apierr.Code{apierr.ContextLength, apierr.UnsupportedParameter, apierr.UnsupportedContent}

package shadow

import (
	"context"
	"sync/atomic"
	"time"

	"octet/calibration"
	"octet/gateway/decide"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/receipt"
	"octet/gateway/stream"
	"octet/gateway/trace"
	"octet/slo"
)

// priorityShadow is below everything that a client may ask for, so that every request can take a shadow's place.
const priorityShadow = intake.PriorityLeast - 1

// Shadow is a copy of one request, sent to another specialist, whose answer no client sees. The request never waits for
// it. A nil Shadow does nothing.
type Shadow struct {
	of       *Shadows
	rt       *ensemble.Runtime
	sp       *ensemble.Specialist // that is asked
	adapter  string               // that it is asked with; "" for none
	request  *intake.Request      // a copy
	timer    intake.Timer
	probe    bool                // owed to a demoted specialist: its answer is judged
	example  calibration.Example // as far as it is known at the decision
	review   calibration.Rules
	standing atomic.Int32 // one of the values below
	cancel   context.CancelCauseFunc
	primary  chan calibration.Answer // cap 1: the request sends at most one, and does not wait
	answered bool                    // it has; of the request's goroutine
	trace    *trace.Draft            // nil if the request is not sampled
	chosen   *ensemble.Replica       // nil before it is; of the shadow's goroutine
}

// The standings of a shadow.
const (
	standUndecided int32 = iota
	standSent
	standDropped // it was not sent
)

// Primary is what of a request its shadow has to do with, beside the request itself.
type Primary struct {
	Receipt *receipt.Draft
	Answer  *stream.Relay
	Trace   *trace.Draft // nil if the request is not traced
}

// Begin begins the shadow that a decision asks for, if there is a place for one; else nil. It costs a copy of the body
// and waits for nothing. The client's answer is kept, to be compared.
func (a *Shadows) Begin(rt *ensemble.Runtime, r *intake.Request, d *decide.Decision, of Primary) *Shadow {
	if d.Shadow == "" {
		return nil
	}
	sp, adapter, why := a.place(rt, r, d)
	if why != "" {
		d.NoShadow = why
		of.Receipt.ShadowWhy(string(why))
		return nil
	}
	asked := a.Now()
	sh := &Shadow{
		of: a, rt: rt, sp: sp, adapter: adapter, request: r.Copy(priorityShadow, asked), probe: sp.Name == d.Probe,
		timer:   intake.StartTimer(asked, func(t time.Time) time.Duration { return a.Now().Sub(t) }),
		example: exampleFor(rt, rt.Lane(sp.Name, adapter), d, of.Receipt),
		review:  calibration.RulesFor(d.Intent, rt.Shadow.Tolerance),
		primary: make(chan calibration.Answer, 1),
		trace:   of.Trace.Shadow(intake.NewID),
	}
	of.Answer.Transcript.Keep(rt.Shadow.AnswerBytes)
	a.start(sh)
	return sh
}

// place takes a place for the shadow that a decision asks for, at its specialist and with the adapter that is returned.
// Else it says why there is none.
func (a *Shadows) place(rt *ensemble.Runtime, r *intake.Request, d *decide.Decision) (*ensemble.Specialist, string,
	decide.Why) {
	name := d.Shadow
	sp := rt.Specialist(name)
	switch {
	case !Comparable(&r.Parsed):
		return nil, "", decide.NotComparable
	case !r.Tenant.Permits(name) || sp == nil:
		return nil, "", decide.NotPermitted
	case !sp.AllowsShadow(name == d.Probe):
		return nil, "", decide.NotAllowed
	}
	adapter, ok := a.adapterOf(sp, d)
	if !ok {
		a.Metrics.Shadow(name, "adapter")
		return nil, "", decide.NoAdapter
	}
	if !a.enter(rt, sp) {
		return nil, "", decide.NoRoom
	}
	return sp, adapter, ""
}

// adapterOf returns the adapter that a shadow asks sp with: the request's, but where sp is asked because that adapter
// is on probation, to compare with. False if sp has no such adapter, or if its answer would tell of an adapter on
// probation where a demoted specialist is probed: then there is no shadow.
func (a *Shadows) adapterOf(sp *ensemble.Specialist, d *decide.Decision) (string, bool) {
	p, own := a.Audit.Verdicts.Probation, slo.Entrant{Specialist: sp.Name}
	with := slo.Entrant{Specialist: sp.Name, Adapter: d.Adapter}
	switch {
	case d.ShadowCause == calibration.ByProbation && sp.Name == d.Specialist:
		return "", true
	case sp.Name == d.Probe && p != nil && p.Fresh(with) && !p.Fresh(own):
		return "", false
	}
	return d.Adapter, sp.Has(d.Adapter)
}

// exampleFor is what is known of the example before there is an answer of the shadow's lane.
func exampleFor(rt *ensemble.Runtime, shadow calibration.Lane, d *decide.Decision,
	draft *receipt.Draft) calibration.Example {
	v, said := &d.Verdict, draft.Decision()
	return calibration.Example{
		Receipt: draft.ID(), Intent: v.Intent, RoutedBy: said.RoutedBy, Confidence: said.Confidence,
		Probabilities: said.Probabilities,
		Primary:       rt.Lane(v.Specialist, v.Adapter), Shadow: shadow,
		Threshold: v.ShadowThreshold, Cause: d.ShadowCause,
	}
}

// Name returns the specialist that was sent the shadow, or is about to be: the client's answer does not wait to see it
// sent. It returns "" for a nil Shadow, and for one that was dropped.
func (sh *Shadow) Name() string {
	if sh == nil || sh.standing.Load() == standDropped {
		return ""
	}
	return sh.sp.Name
}

// Forgo ends a shadow whose request will have no answer to compare it with. Idempotent; nothing after End has given
// it one.
func (sh *Shadow) Forgo() {
	if sh != nil && !sh.answered {
		sh.cancel(errForgone)
	}
}

// End says that the request has ended: the receipt is told which specialist was sent the shadow, and an answer that is
// whole goes to the comparer.
func (sh *Shadow) End(draft *receipt.Draft, answer *stream.Relay, whole bool) {
	name := sh.Name()
	draft.Shadow(name)
	switch {
	case name != "":
		draft.ShadowWhy(string(sh.example.Cause))
		draft.ShadowBase(sh.sp.Version)
	case sh != nil:
		draft.ShadowWhy(string(decide.NotSent))
	}
	if name == "" || !whole {
		sh.Forgo()
		return
	}
	primary, ok := answerOf(answer, sh.rt.Shadow.AnswerBytes)
	if !ok {
		sh.cancel(errLong)
		return
	}
	sh.answered = true
	sh.primary <- primary
}

package gateway

import (
	"context"
	"sync/atomic"
	"time"

	"octet/calibration"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/wire"
)

// secondOpinion is a shadow of one request: the same body, sent to another specialist, whose answer no client sees. The
// exchange that it belongs to never waits for it; its goroutine is the Server's.
type secondOpinion struct {
	of       *shadows
	rt       *ensemble.Runtime
	sp       *ensemble.Specialist // that is asked
	id       string
	tenant   string
	salted   intake.Salted
	kind     wire.Kind
	stream   bool
	probe    bool // owed to a demoted specialist: its answer is judged
	asked    time.Time
	body     []byte // a copy
	req      wire.Request
	example  calibration.Example // as far as it is known at the decision
	review   calibration.Rules
	standing atomic.Int32 // one of the values below
	cancel   context.CancelCauseFunc
	primary  chan calibration.Answer // cap 1: the exchange sends at most one, and does not wait
}

// The standings of a shadow.
const (
	standUndecided int32 = iota
	standSent
	standDropped // it was not sent
)

// dispatchShadow begins the second opinion that the verdict asks for, if there is a place for one. It costs a copy of
// the body and waits for nothing.
func (x *exchange) dispatchShadow() {
	name := x.decision.Shadow
	if name == "" || !x.comparable() {
		return
	}
	sp := x.rt.Specialist(name)
	if sp == nil || !x.request.Tenant.Permits(name) || !sp.AllowsShadow(name == x.decision.Probe) {
		return
	}
	sh := &secondOpinion{
		of: &x.s.shadows, rt: x.rt, sp: sp, id: x.request.ID, tenant: x.request.Tenant.Name, salted: x.request.Salted(),
		kind:   x.request.Kind,
		stream: x.request.Stream,
		probe:  name == x.decision.Probe, asked: x.s.now(), primary: make(chan calibration.Answer, 1),
		review: calibration.RulesFor(x.decision.Intent, x.rt.Shadow.Tolerance),
	}
	if sh.of.begin(sh, x.request.Bytes) {
		sh.example = x.exampleFor(sp)
		x.shadow = sh
		x.relay.Transcript.Keep(sh.rt.Shadow.AnswerBytes)
		sh.of.fly(sh)
	}
}

// comparable says whether an answer is one text, so that two can be held against each other.
func (x *exchange) comparable() bool {
	q := &x.request.Parsed
	return q.N <= 1 && q.BestOf <= 1 && q.Prompts() <= 1 && !q.Beam && !q.Tools && !q.Echo
}

// exampleFor is what is known of the example before there is an answer.
func (x *exchange) exampleFor(sp *ensemble.Specialist) calibration.Example {
	v := &x.decision.Verdict
	d := x.receipt.Decision()
	return calibration.Example{
		Receipt: x.receipt.ID(), Intent: v.Intent, RoutedBy: d.RoutedBy, Confidence: d.Confidence,
		Probabilities: d.Probabilities,
		Primary:       x.rt.Lane(v.Specialist, v.Adapter),
		Shadow:        calibration.Lane{Specialist: sp.Name, Version: sp.Version},
		Threshold:     v.ShadowThreshold, Cause: x.decision.ShadowCause,
	}
}

// name returns the specialist that was sent the shadow, or is about to be: the client's answer does not wait to see it
// sent. It returns "" for a nil shadow, and for one that was dropped.
func (sh *secondOpinion) name() string {
	if sh == nil || sh.standing.Load() == standDropped {
		return ""
	}
	return sh.sp.Name
}

// forgo ends a shadow whose request will have no answer to compare it with. Idempotent.
func (sh *secondOpinion) forgo() {
	if sh != nil {
		sh.cancel(errForgone)
	}
}

// handToShadow gives the primary's answer to the comparer, and the receipt the name of the specialist that was asked.
func (x *exchange) handToShadow() {
	sh := x.shadow
	name := sh.name()
	x.receipt.Shadow(name)
	if sh == nil {
		return
	}
	x.shadow = nil
	text, ok := x.relay.Transcript.Within(sh.rt.Shadow.AnswerBytes)
	switch {
	case x.failure != nil || x.abort || x.status != 200 || name == "":
		sh.forgo()
	case !ok:
		sh.cancel(errLong)
	default:
		sh.primary <- calibration.Answer{Text: text, Finish: x.relay.Finish()}
	}
}

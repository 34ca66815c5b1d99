package gateway

import (
	"fmt"
	"math/rand/v2"
	"time"

	"octet/calibration"
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/slo"
)

// relieve changes the verdict by what is in force: another specialist stands in for a demoted one, or answers for one
// under load, or the request has to come back later. It takes no lock, and depends on no operator.
func (x *exchange) relieve() error {
	if err := x.standIn(); err != nil {
		return err
	}
	sp := x.lane()
	if sp.Load != nil && !x.request.Dry {
		sp.Load.Offer(x.verdict.Intent, x.request.Intent.Priority)
	}
	if sp.Escalation() >= slo.Diverting {
		x.divert()
	}
	x.copyToDemoted()
	if x.verdict.Specialist != x.receipt.Decision().Specialist || x.demoted != "" {
		x.recordDecision()
	}
	x.countOffer()
	return x.checkFloor(x.lane())
}

// lane is the specialist of the verdict; nil if no specialist has that name.
func (x *exchange) lane() *ensemble.Specialist {
	if x.chosen == nil || x.chosen.Name != x.verdict.Specialist {
		x.chosen = x.rt.Specialist(x.verdict.Specialist)
	}
	return x.chosen
}

// knobs are those of the verdict's intent.
func (x *exchange) knobs() *ensemble.Knobs {
	if x.dials == nil {
		x.dials = x.rt.Knobs(x.verdict.Intent)
	}
	return x.dials
}

// countOffer counts a request for the specialist that is to answer it.
func (x *exchange) countOffer() {
	if sp := x.lane(); !x.request.Dry && sp.Metrics != nil {
		sp.Metrics.Offer(x.request.Intent.Priority)
	}
}

// countAdmission counts the first place that a request gets.
func (x *exchange) countAdmission() {
	if !x.admitted {
		x.admitted = true
		x.heard()
		x.sp.Metrics.Admit(x.request.Intent.Priority)
	}
}

// standIn replaces a demoted specialist by the first of its fallbacks that may answer. breaker_open where there is
// none.
func (x *exchange) standIn() error {
	first := x.lane()
	if !first.Board.Breaker().Demoted() {
		return nil
	}
	now := x.s.now()
	if first.Board.Breaker().Standing(now) == slo.Primary {
		return nil
	}
	x.demoted = first.Name
	if !x.request.Dry && first.Board.Breaker().Probe(now) {
		x.probe = first.Name
	}
	sp := first
	for range x.rt.Specialists { // each at most once: fallbacks that lead in a circle end
		if sp = x.rt.Specialist(sp.Fallback); sp == nil {
			break
		}
		if x.mayAnswer(sp.Name) {
			x.verdict = x.verdict.InPlace(sp.Name)
			return nil
		}
	}
	return apierr.New(apierr.BreakerOpen, "",
		fmt.Sprintf("%s is demoted for its correctness, and nobody can stand in", first.Name))
}

// copyToDemoted makes the shadow of a request the probe that is owed to a demoted specialist. Who answers gets no copy
// of it.
func (x *exchange) copyToDemoted() {
	switch {
	case x.probe != "":
		x.verdict.Shadow, x.shadowCause = x.probe, calibration.ByProbe
	case x.demoted != "" && x.verdict.Shadow == x.verdict.Specialist:
		x.verdict.Shadow = ""
	}
}

// mayAnswer says whether a specialist is one of the tenant's, and none that is demoted.
func (x *exchange) mayAnswer(name string) bool {
	sp := x.rt.Specialist(name)
	return sp != nil && x.request.Tenant.Permits(name) &&
		(!sp.Board.Breaker().Demoted() || sp.Board.Breaker().Standing(x.s.now()) == slo.Primary)
}

// divert lets the second choice answer for a first one under load, where the verdict was unsure and the second is not
// under load itself.
func (x *exchange) divert() {
	threshold, ok := x.knobs().Divert.Value()
	if !ok {
		threshold = x.verdict.DivertThreshold
	}
	second, ok := x.verdict.Divert(threshold)
	if !ok || !x.mayAnswer(second.Specialist) || x.rt.Specialist(second.Specialist).Escalation() != slo.Normal {
		return
	}
	x.verdict = second
}

// checkFloor refuses priorities below what is served: the intent's floor as it is configured or as an operator has set
// it, and where none has, as the load of the specialist that it asks has raised it. Another specialist serves the same
// intent as ever.
func (x *exchange) checkFloor(sp *ensemble.Specialist) error {
	floor, overridden, _ := x.knobs().Floor.Own()
	var wait time.Duration
	load := sp.LoadFloor(x.verdict.Intent)
	raised := !overridden && load > int(floor)
	if raised {
		floor, wait = float64(load), jittered(sp.Load.RetryAfter())
	}
	if x.request.Intent.Priority >= int(floor) {
		return nil
	}
	if raised && x.patient(sp, load, &wait) {
		return nil
	}
	return &apierr.Error{
		Code: apierr.PriorityFloor, RetryAfter: wait,
		Message: fmt.Sprintf("priority %d is below the floor of %d that is in force",
			x.request.Intent.Priority, int(floor)),
	}
}

// jittered makes a wait up to a quarter longer, so that clients that were sent away together do not come back together.
func jittered(d time.Duration) time.Duration {
	return d + time.Duration(float64(d)/4*rand.Float64())
}

package decide

import (
	"fmt"
	"math/rand/v2"
	"time"

	"octet/calibration"
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/scheduler/gate"
	"octet/slo"
)

// Relieve changes the decision by what is in force: another specialist stands in for a demoted one, or answers for one
// under load. The error is breaker_open.
func (c *Decider) Relieve(rt *ensemble.Runtime, r *intake.Request, d *Decision) error {
	if err := c.standIn(rt, r, d); err != nil {
		return err
	}
	sp := d.In(rt)
	if sp.Load != nil && !r.Dry {
		sp.Load.Offer(d.Intent, r.Intent.Priority)
	}
	if sp.Escalation() >= slo.Diverting && !d.inLoop {
		c.divert(rt, r, d)
	}
	d.copyToDemoted()
	c.NoteProbation(d)
	return nil
}

// standIn replaces a demoted specialist by the first of its fallbacks that may answer and has the requested adapter.
// The error is breaker_open if no fallback does.
func (c *Decider) standIn(rt *ensemble.Runtime, r *intake.Request, d *Decision) error {
	first := d.In(rt)
	if !first.Board.Breaker().Demoted() {
		return nil
	}
	now := c.Clock.Now()
	if first.Board.Breaker().Standing(now) == slo.Primary {
		return nil
	}
	if r.Intent.Replica != "" {
		return demoted(r, first.Name)
	}
	d.Demoted = first.Name
	if !r.Dry && first.Board.Breaker().Probe(now) {
		d.Probe = first.Name
	}
	sp := first
	for range rt.Specialists { // each at most once: fallbacks that lead in a circle end
		if sp = rt.Specialist(sp.Fallback); sp == nil {
			break
		}
		if c.mayAnswer(rt, r, sp.Name) && sp.Has(d.Adapter) {
			d.Verdict = d.InPlace(sp.Name)
			return nil
		}
	}
	if d.Adapter != "" {
		return apierr.New(apierr.BreakerOpen, "",
			fmt.Sprintf("%s is demoted for its correctness, and no stand-in that serves has %s", first.Name, d.Adapter))
	}
	return apierr.New(apierr.BreakerOpen, "",
		fmt.Sprintf("%s is demoted for its correctness, and no specialist stands in", first.Name))
}

// copyToDemoted makes the shadow of a request the probe that is owed to a demoted specialist. The one
// that answers gets no copy of it.
func (d *Decision) copyToDemoted() {
	switch {
	case d.Probe != "":
		d.Shadow, d.ShadowCause = d.Probe, calibration.ByProbe
	case d.Demoted != "" && d.Shadow == d.Specialist:
		d.Shadow = ""
	}
}

// divert lets the second choice answer for a first one under load, where the verdict was unsure and the second is not
// under load itself.
func (c *Decider) divert(rt *ensemble.Runtime, r *intake.Request, d *Decision) {
	second, ok := d.Divert(d.DivertThreshold) // as Route has read it: the shadow was decided on by the same reading
	if !ok || !c.mayTake(rt, r, second.Specialist) {
		return
	}
	d.Verdict = second
}

// Floor refuses priorities below what is served: the intent's floor as it is configured or as an operator has set
// it, and where none has, as the load of the specialist that it asks has raised it. Another specialist serves the same
// intent as ever.
func (c *Decider) Floor(rt *ensemble.Runtime, r *intake.Request, d *Decision) error {
	sp := d.In(rt)
	floor, overridden, _ := d.knobsIn(rt).Floor.Own()
	var wait time.Duration
	load := sp.LoadFloor(d.Intent)
	raised := !overridden && load > int(floor)
	if raised {
		floor, wait = float64(load), Jittered(sp.Load.RetryAfter())
	}
	if r.Intent.Priority >= int(floor) {
		return nil
	}
	if raised && c.patient(sp, r, load, &wait) {
		return nil
	}
	return &apierr.Error{
		Code: apierr.PriorityFloor, RetryAfter: wait,
		Message: fmt.Sprintf("priority %d is below the floor of %d that is in force",
			r.Intent.Priority, int(floor)),
	}
}

// shedMemory is for how long after its time one that a floor has sent away is known again.
const shedMemory = time.Minute

// patient reports whether the request, which a floor of load refuses, has come back for so long that its age lifts it
// to the floor. If not, its first time is remembered, and wait is no longer than until then.
func (c *Decider) patient(sp *ensemble.Specialist, r *intake.Request, floor int, wait *time.Duration) bool {
	if sp.Aging == 0 || sp.Shed == nil {
		return false
	}
	id, exact := r.Caller()
	now, caller := c.Clock.Now(), gate.Caller{ID: id, Exact: exact}
	first := sp.Shed.Since(caller, r.Arrival)
	heard := first.Add(time.Duration(floor-r.Intent.Priority) * sp.Aging)
	if r.Dry {
		return !now.Before(heard)
	}
	came := sp.Shed.Come(caller, now)
	if !now.Before(heard) {
		if !came {
			sp.Shed.Served(caller)
		}
		return true
	}
	*wait = min(*wait, heard.Sub(now))
	sent := gate.Sent{Caller: caller, Priority: r.Intent.Priority, After: *wait, Keep: shedMemory}
	*wait = sp.Shed.Tell(&sent, first, now)
	return false
}

// Jittered makes a wait up to a quarter longer, so that clients that were sent away together do not come back together.
func Jittered(d time.Duration) time.Duration {
	return d + time.Duration(float64(d)/4*rand.Float64())
}

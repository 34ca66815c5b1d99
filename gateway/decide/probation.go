package decide

import (
	"math"

	"github.com/zeebo/xxh3"

	"octet/calibration"
	"octet/classifier"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/slo"
)

// shares reports whether the specialist of the verdict is on probation, and has not been named.
func (c *Decider) shares(d *Decision) bool {
	return d.RoutedBy != classifier.ByModel && c.Probation.Fresh(slo.Entrant{Specialist: d.Specialist})
}

// shareOut gives a part of what would go to a fresh specialist to its fallback, so that no intent is its alone. A
// conversation stays on one side, and so does a loop of tool calls. A request that names the specialist or an adapter
// gets it, and so does one that the fallback cannot answer now.
func (c *Decider) shareOut(rt *ensemble.Runtime, r *intake.Request, d *Decision) {
	v := &d.Verdict
	if d.inLoop || v.Adapter != "" || !c.shares(d) {
		return
	}
	sp := d.In(rt)
	if sp == nil || sp.Fallback == "" || d.keeps(r, sp, rt.Probation.Share) || !c.mayAnswer(rt, r, sp.Fallback) ||
		!rt.Specialist(sp.Fallback).Snapshot().Serves() {
		return
	}
	v.Second, v.SecondViable = v.Specialist, false
	v.Specialist, v.RoutedBy, v.Rule, v.Cues = sp.Fallback, classifier.ByFallback, v.Specialist+" is on probation", nil
	v.Confidence = probability(rt, v, v.Specialist)
}

// NoteProbation notes whether what answers is on probation.
func (c *Decider) NoteProbation(d *Decision) {
	d.OnProbation = c.Probation != nil &&
		c.Probation.Fresh(slo.Entrant{Specialist: d.Specialist, Adapter: d.Adapter})
}

// keeps reports whether a fresh specialist with such a share answers a request itself. A conversation that is known by
// its messages, and not by a session, goes on where it was answered last.
func (d *Decision) keeps(r *intake.Request, fresh *ensemble.Specialist, share float64) bool {
	if r.Intent.Session == "" {
		switch d.before {
		case fresh.Name:
			return true
		case fresh.Fallback:
			return false
		}
	}
	return ownShare(r) < share
}

// ownShare spreads requests evenly over [0,1): those of a session are at one place.
func ownShare(r *intake.Request) float64 {
	key := r.Intent.Session
	if key == "" {
		key = r.ID
	}
	return float64(xxh3.HashString(key)>>11) / (1 << 53)
}

// Named returns the verdict's probabilities by the names of specialists; nil if it has none.
func (d *Decision) Named() map[string]float64 {
	if d.Probabilities == nil {
		return nil
	}
	byName := make(map[string]float64, len(d.Probabilities))
	for i, p := range d.Probabilities {
		byName[d.among[i].Name] = p
	}
	return byName
}

// probability of a specialist in a verdict; NaN if the verdict has none.
func probability(rt *ensemble.Runtime, v *classifier.Verdict, name string) float64 {
	for i, p := range v.Probabilities {
		if rt.Specialists[i].Name == name {
			return p
		}
	}
	return math.NaN()
}

// probationShadow says which specialist gets a shadow because a lane is fresh: of what the fresh one answers its second
// choice, its fallback, or, of an adapter, the specialist without it; of what another answers in a fresh one's place,
// the fresh one.
func (c *Decider) probationShadow(rt *ensemble.Runtime, v *classifier.Verdict) (string, calibration.Cause) {
	p := c.Probation
	switch {
	case v.RoutedBy == classifier.ByFallback && v.Second != "" && p.Fresh(slo.Entrant{Specialist: v.Second}):
		return v.Second, calibration.ByProbation
	case !p.Fresh(slo.Entrant{Specialist: v.Specialist, Adapter: v.Adapter}) ||
		v.Confidence >= rt.Probation.ShadowThreshold || rt.Probation.ShadowThreshold == 0:
		return "", ""
	case v.Adapter != "":
		return v.Specialist, calibration.ByProbation
	case v.Second != "":
		return v.Second, calibration.ByProbation
	}
	if sp := rt.Specialist(v.Specialist); sp != nil && sp.Fallback != "" {
		return sp.Fallback, calibration.ByProbation
	}
	return "", ""
}

// inForce gives the verdict the thresholds that are in force for its intent: an operator's, or the configured ones.
func (d *Decision) inForce(rt *ensemble.Runtime) {
	knobs := d.knobsIn(rt)
	if t, ok := knobs.Shadow.Value(); ok {
		d.ShadowThreshold = t
	}
	if t, ok := knobs.Divert.Value(); ok {
		d.DivertThreshold = t
	}
}

// shadowOf says which specialist gets a shadow copy of a request, and why: the second choice of a classifier that is
// less sure than the intent's threshold in force asks. A fresh lane's rules are probation's.
func (c *Decider) shadowOf(rt *ensemble.Runtime, d *Decision) (string, calibration.Cause) {
	v := &d.Verdict
	switch {
	case v.RoutedBy == classifier.ByClassifier && v.Second != "" && v.Confidence < v.ShadowThreshold:
		return v.Second, calibration.ByThreshold
	default:
		return c.probationShadow(rt, v)
	}
}

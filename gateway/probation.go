package gateway

import (
	"math"

	"github.com/zeebo/xxh3"

	"octet/calibration"
	"octet/classifier"
	"octet/gateway/ensemble"
	"octet/slo"
)

// shareOut gives a part of what would go to a fresh specialist to its fallback, so that no intent is its alone. A
// session stays on one side. Who names the specialist or an adapter gets it.
func (x *exchange) shareOut() {
	v := &x.verdict
	if v.RoutedBy == classifier.ByModel || v.Adapter != "" ||
		!x.s.probation.Fresh(slo.Entrant{Specialist: v.Specialist}) {
		return
	}
	sp := x.lane()
	if sp == nil || sp.Fallback == "" || !x.request.Tenant.Permits(sp.Fallback) || x.ownShare() < x.rt.Probation.Share {
		return
	}
	v.Second, v.SecondViable = v.Specialist, false
	v.Specialist, v.RoutedBy, v.Rule, v.Cues = sp.Fallback, classifier.ByFallback, v.Specialist+" is on probation", nil
	v.Confidence = probability(x.rt, v, v.Specialist)
}

// ownShare spreads requests evenly over [0,1): those of a session are at one place.
func (x *exchange) ownShare() float64 {
	key := x.request.Intent.Session
	if key == "" {
		key = x.request.ID
	}
	return float64(xxh3.HashString(key)>>11) / (1 << 53)
}

// named returns probabilities, which stand in the order of the specialists, by their names; nil of nil.
func named(rt *ensemble.Runtime, probabilities []float64) map[string]float64 {
	if probabilities == nil {
		return nil
	}
	byName := make(map[string]float64, len(probabilities))
	for i, p := range probabilities {
		byName[rt.Specialists[i].Name] = p
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

// probationShadow says who gets a shadow because a lane is fresh: of what the fresh one answers its second choice, its
// fallback, or, of an adapter, the specialist without it; of what another answers in a fresh one's place, the fresh
// one.
func (x *exchange) probationShadow(v *classifier.Verdict) (string, calibration.Cause) {
	p := x.s.probation
	switch {
	case v.RoutedBy == classifier.ByFallback && v.Second != "" && p.Fresh(slo.Entrant{Specialist: v.Second}):
		return v.Second, calibration.ByProbation
	case !p.Fresh(slo.Entrant{Specialist: v.Specialist, Adapter: v.Adapter}) ||
		v.Confidence >= x.rt.Probation.ShadowThreshold || x.rt.Probation.ShadowThreshold == 0:
		return "", ""
	case v.Adapter != "":
		return v.Specialist, calibration.ByProbation
	case v.Second != "":
		return v.Second, calibration.ByProbation
	}
	if sp := x.rt.Specialist(v.Specialist); sp != nil && sp.Fallback != "" {
		return sp.Fallback, calibration.ByProbation
	}
	return "", ""
}

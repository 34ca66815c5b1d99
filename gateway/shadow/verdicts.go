package shadow

import (
	"fmt"
	"log/slog"
	"net/http"

	"octet/calibration"
	"octet/gateway/ensemble"
	"octet/gateway/receipt"
	"octet/slo"
)

// Verdicts counts verdicts on answers.
type Verdicts struct {
	Probation *slo.Probation
	Records   *Records
	Log       *slog.Logger
}

// OnAnswer counts a verdict for the specialist that answered. It reports whether it did: not a second of its kind, and
// none on a request that has no answer.
func (v *Verdicts) OnAnswer(rt *ensemble.Runtime, r *receipt.Receipt, o receipt.Outcome) bool {
	sp := rt.Specialist(r.Result.Specialist)
	if sp == nil || r.Result.Status != http.StatusOK {
		return false
	}
	effect := Count(sp, r, o)
	if effect == receipt.Refused {
		return false
	}
	lane := laneOf(r)
	v.try(lane, r, effect, o.Pass)
	d := &r.Decision
	v.Records.Offer(calibration.Record{Verdict: &calibration.Verdict{
		Receipt: r.ID, Intent: d.Intent, Lane: rt.Lane(lane.Specialist, lane.Adapter), Confidence: d.Confidence,
		Kind: o.Kind, Pass: o.Pass,
	}})
	return true
}

// laneOf returns the lane that answered: the decision's, or the second choice, which has no adapter.
func laneOf(r *receipt.Receipt) slo.Entrant {
	if r.Result.Specialist != r.Decision.Specialist {
		return slo.Entrant{Specialist: r.Result.Specialist}
	}
	return slo.Entrant{Specialist: r.Decision.Specialist, Adapter: r.Decision.Adapter}
}

// try takes a verdict into the probation of the lane that answered. An answer is one sample of it, as in the window.
func (v *Verdicts) try(lane slo.Entrant, r *receipt.Receipt, effect receipt.Effect, pass bool) {
	switch effect {
	case receipt.First:
		if v.Probation.Outcome(lane, r.Time, pass) {
			v.Log.Info("a probation is over", "specialist", lane.Specialist, "adapter", lane.Adapter)
		}
	case receipt.Overturn:
		v.Probation.Overturn(lane, r.Time)
	case receipt.Refused, receipt.Agrees:
	}
}

// Count counts a verdict on the specialist's answer to a request, or to a copy of it. It returns what the verdict did
// to the sample that the answer is.
func Count(sp *ensemble.Specialist, r *receipt.Receipt, o receipt.Outcome) receipt.Effect {
	v := slo.Verdict{Answered: r.Time, Pass: o.Pass, By: o.By}
	effect, passedBy := r.Judge(o)
	switch effect {
	case receipt.First:
		sample(sp, v)
	case receipt.Overturn:
		sp.Board.Overturn(v, passedBy)
		sp.Metrics.Verdict(false)
	case receipt.Refused, receipt.Agrees:
	default:
		panic(fmt.Sprintf("shadow: a verdict has effect %d", effect))
	}
	return effect
}

// sample takes a verdict into the specialist's correctness window.
func sample(sp *ensemble.Specialist, v slo.Verdict) {
	sp.Board.Outcome(v)
	sp.Metrics.Verdict(v.Pass)
}

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
	if sp == nil || r.Result.Status != http.StatusOK || !Count(sp, r, o) {
		return false
	}
	d := &r.Decision
	if v.Probation.Outcome(slo.Entrant{Specialist: d.Specialist, Adapter: d.Adapter}, o.Pass) {
		v.Log.Info("a probation is over", "specialist", d.Specialist, "adapter", d.Adapter)
	}
	v.Records.Offer(calibration.Record{Verdict: &calibration.Verdict{
		Receipt: r.ID, Intent: d.Intent, Lane: rt.Lane(d.Specialist, d.Adapter), Confidence: d.Confidence, Kind: o.Kind,
		Pass: o.Pass,
	}})
	return true
}

// Count counts a verdict on the specialist's answer to a request, or to a copy of it. It reports whether the verdict
// was taken.
func Count(sp *ensemble.Specialist, r *receipt.Receipt, o receipt.Outcome) bool {
	v := slo.Verdict{Answered: r.Time, Pass: o.Pass, By: o.By}
	switch e, passedBy := r.Judge(o); e {
	case receipt.Refused:
		return false
	case receipt.First:
		sample(sp, v)
	case receipt.Overturn:
		sp.Board.Overturn(v, passedBy)
		sp.Metrics.Verdict(false)
	case receipt.Agrees:
	default:
		panic(fmt.Sprintf("shadow: a verdict has effect %d", e))
	}
	return true
}

// sample takes a verdict into the specialist's correctness window.
func sample(sp *ensemble.Specialist, v slo.Verdict) {
	sp.Board.Outcome(v)
	sp.Metrics.Verdict(v.Pass)
}

package shadow

import (
	"cmp"
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
// none on a request that has no answer. An adapter on probation is judged by itself: until it has passed, verdicts on
// its answers are no evidence for or against its specialist, and neither are those on one that was replaced before it
// had passed. What counts is the version that was asked, also for a verdict after another has come.
func (v *Verdicts) OnAnswer(rt *ensemble.Runtime, r *receipt.Receipt, o receipt.Outcome) bool {
	sp := rt.Specialist(r.Result.Specialist)
	if sp == nil || r.Result.Status != http.StatusOK {
		return false
	}
	lane := laneOf(r)
	o.Published = sp.Board.KindOf(cmp.Or(o.Published, o.Kind))
	given := slo.Verdict{Answered: r.Time, Pass: o.Pass, Kind: o.Published, By: o.By, Revision: r.Revision(),
		Version: r.Decision.Version}
	o.OnTrial = lane.Adapter != "" && (v.Probation.Tries(lane, given) ||
		r.Decision.Probation && v.Probation.Replaced(lane, given))
	judged := r.Judge(o)
	if judged.Answer.Effect == receipt.Refused {
		return false
	}
	if !judged.OnTrial {
		weighed := given
		weighed.Version = r.Decision.Base
		weigh(sp, weighed, judged)
	}
	v.try(lane, given, judged.Answer)
	d := &r.Decision
	v.Records.Offer(calibration.Record{Verdict: &calibration.Verdict{
		Receipt: r.ID, Intent: d.Intent, Confidence: d.Confidence, Kind: o.Kind,
		Lane: calibration.Lane{Specialist: lane.Specialist, Adapter: lane.Adapter, Version: d.Version},
		Pass: o.Pass,
	}})
	return true
}

// laneOf returns the lane that answered. Which specialist that is and with which adapter is one decision: a second
// choice, a diversion and a stand-in have the adapter that was asked for.
func laneOf(r *receipt.Receipt) slo.Entrant {
	return slo.Entrant{Specialist: r.Result.Specialist, Adapter: r.Decision.Adapter}
}

// try takes a verdict into the probation of the lane that answered. An answer is one sample of it, as in the window.
func (v *Verdicts) try(lane slo.Entrant, given slo.Verdict, change receipt.Change) {
	switch change.Effect {
	case receipt.First:
		if v.Probation.Outcome(lane, given) {
			v.Log.Info("a probation is over", "specialist", lane.Specialist, "adapter", lane.Adapter)
		}
	case receipt.Overturn:
		v.Probation.Overturn(lane, given, change.PassedBy)
	case receipt.Refused, receipt.Agrees:
	}
}

// Count counts a verdict on the specialist's answer to a copy of a request. It returns what the verdict did to the
// sample that the answer is. Beside it, an answer is one sample of each kind of verdict.
func Count(sp *ensemble.Specialist, r *receipt.Receipt, o receipt.Outcome) receipt.Effect {
	o.Published = sp.Board.KindOf(cmp.Or(o.Published, o.Kind))
	judged := r.Judge(o)
	weigh(sp, slo.Verdict{Answered: r.Time, Pass: o.Pass, Kind: o.Published, By: o.By, Version: r.Decision.ShadowBase},
		judged)
	return judged.Answer.Effect
}

// weigh takes a verdict into the specialist's correctness window, by what it did to the samples that the answer is.
func weigh(sp *ensemble.Specialist, v slo.Verdict, judged receipt.Judged) {
	switch judged.Answer.Effect {
	case receipt.First:
		sp.Board.Outcome(v)
		sp.Metrics.Verdict(v.Pass)
	case receipt.Overturn:
		sp.Board.Overturn(v, judged.Answer.PassedBy)
		sp.Metrics.Verdict(false)
	case receipt.Refused, receipt.Agrees:
	default:
		panic(fmt.Sprintf("shadow: a verdict has effect %d", judged.Answer.Effect))
	}
	switch judged.Kind.Effect {
	case receipt.First:
		sp.Board.OutcomeOfKind(v)
	case receipt.Overturn:
		sp.Board.OverturnOfKind(v, judged.Kind.PassedBy)
	case receipt.Refused, receipt.Agrees:
	}
}

// sample takes a verdict on an answer that no receipt tells of into the specialist's correctness window.
func sample(sp *ensemble.Specialist, v slo.Verdict) {
	sp.Board.Outcome(v)
	sp.Board.OutcomeOfKind(v)
	sp.Metrics.Verdict(v.Pass)
}

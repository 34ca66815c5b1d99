package receipt

import (
	"math"
	"time"

	"octet/classifier"
)

// Draft is the receipt of a request that runs. Its methods are called in the order in which they stand here; Decide,
// Route and Attempt as often as the request is decided, routed and tried again.
type Draft struct {
	r    Receipt
	open bool
}

// Begin makes the zero Draft that of a request which has nothing but the receipt's id yet.
func (d *Draft) Begin(id string) { d.r.ID = id }

// ID returns the receipt's id.
func (d *Draft) ID() string { return d.r.ID }

// Opened reports whether there is a decision to keep: a request that was refused before it leaves no receipt.
func (d *Draft) Opened() bool { return d.open }

// Open begins the record of a decision.
func (d *Draft) Open(requestID, kind string, arrival time.Time, asked Asked) {
	d.r.RequestID, d.r.Kind, d.r.Time, d.r.Asked, d.open = requestID, kind, arrival.Round(0), asked, true
}

// Decide records the verdict on which specialist answers, in place of the one before.
func (d *Draft) Decide(v *classifier.Verdict, demoted, probe string, probabilities map[string]float64) {
	d.r.Decision = Decision{
		Specialist: v.Specialist, Adapter: v.Adapter, RoutedBy: v.RoutedBy.String(), Rule: v.Rule, Cues: v.Cues,
		Probabilities: probabilities, Second: v.Second, SecondViable: v.SecondViable, Shadow: v.Shadow,
		Demoted: demoted, Probe: probe, Intent: v.Intent,
		ShadowThreshold: v.ShadowThreshold, DivertThreshold: v.DivertThreshold,
		Classifier: v.Classifier, ClassifierOutage: string(v.Outage),
	}
	if confidence := v.Confidence; !math.IsNaN(confidence) {
		d.r.Decision.Confidence = &confidence
	}
}

// Lane records the version of what was decided on, and whether it is on probation.
func (d *Draft) Lane(version string, probation bool) {
	d.r.Decision.Version, d.r.Decision.Probation = version, probation
}

// Base records the version of the specialist that was decided on.
func (d *Draft) Base(version string) { d.r.Decision.Base = version }

// Decision returns what Decide recorded.
func (d *Draft) Decision() *Decision { return &d.r.Decision }

// Shadow records the specialist that was sent a copy of the request; empty if no copy was sent.
func (d *Draft) Shadow(specialist string) { d.r.Decision.Shadow = specialist }

// ShadowBase records the version of the specialist that was sent a copy.
func (d *Draft) ShadowBase(version string) { d.r.Decision.ShadowBase = version }

// ShadowWhy records why a copy is sent, or why none is.
func (d *Draft) ShadowWhy(why string) { d.r.Decision.ShadowWhy = why }

// Attempt records the start of a replica's turn, so long after the arrival. It returns the entry, to be closed before
// the next turn begins; see Entry for what shows later.
func (d *Draft) Attempt(specialist, step, replica string, predicted int, now time.Duration) *Attempt {
	d.r.Attempts = append(d.r.Attempts, Attempt{Specialist: specialist, Step: step, Replica: replica,
		PredictedTokens: predicted, opened: now})
	return &d.r.Attempts[len(d.r.Attempts)-1]
}

// Latest returns the number of the entry that Attempt made last.
func (d *Draft) Latest() int { return len(d.r.Attempts) - 1 }

// Entry returns the entry of that number, to be used before the next turn begins.
func (d *Draft) Entry(n int) *Attempt { return &d.r.Attempts[n] }

// Weights records which revision of the weights the replica serves as the turn begins; "" if that is not known.
func (a *Attempt) Weights(revision string) { a.Revision = revision }

// Placed records the revision as the turn is given a place. Another one than it had before, with a place that was taken
// away, leaves it Mixed.
func (a *Attempt) Placed(revision string) {
	if !a.placed {
		a.placed, a.Revision = true, revision
	}
	a.Served(revision)
}

// Served records the revision as the turn ends: the engine may have loaded other weights under it. It changes nothing
// of a turn that was given no place.
func (a *Attempt) Served(revision string) {
	if a.placed && revision != "" && a.Revision != "" && a.Revision != revision {
		a.Revision = Mixed
	}
}

// Reckoned records what the Gate reckoned with when it was first asked in this turn.
func (a *Attempt) Reckoned(with Admission) {
	if a.Admission.Answer == "" {
		a.Admission = with
	}
}

// Queued adds time that the turn waited for a place.
func (a *Attempt) Queued(waited time.Duration) { a.QueueMs += Ms(waited) }

// Speculate records whether the whole draft window was reserved for the turn.
func (a *Attempt) Speculate(reserved bool) {
	if a.Speculation = SpeculationEngines; reserved {
		a.Speculation = SpeculationReserved
	}
}

// Delivered records how many tokens of the prompt the engine had in its cache.
func (a *Attempt) Delivered(tokens int) { a.DeliveredTokens = &tokens }

// Close records the end of the turn, so long after the arrival, and why it failed.
func (a *Attempt) Close(now time.Duration, outcome, detail string) {
	a.Ms, a.Outcome, a.Detail = Ms(now-a.opened), outcome, detail
}

// End records how the request ended.
func (d *Draft) End(result Result) *Result {
	d.r.Result = result
	return &d.r.Result
}

// Trace records the id of the request's trace; "" if it was sent nowhere.
func (d *Draft) Trace(id string) { d.r.TraceID = id }

// Receipt returns the receipt, to be put.
func (d *Draft) Receipt() *Receipt { return &d.r }

// Rendered returns the receipt as Find would: for a request that leaves none.
func (d *Draft) Rendered() *Receipt {
	d.r.render()
	return &d.r
}

// Ms is d in milliseconds, exact to the microsecond.
func Ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

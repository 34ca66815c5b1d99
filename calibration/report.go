package calibration

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Goal is what a report is asked for.
type Goal struct {
	// Disagreement is the share of requests at which a shadow is worth its cost: thresholds are recommended where fewer
	// than that disagree above.
	Disagreement float64
	MinSamples   int // comparisons, or decided duels, below which nothing is recommended
	Resamples    int // of the bootstrap behind a recommendation's interval
	Seed         uint64
}

// ErrGoal is wrapped by what Report says of its Goal.
var ErrGoal = errors.New("calibration: a goal that cannot be met")

func (g Goal) check() error {
	if !(g.Disagreement > 0 && g.Disagreement < 1) || g.MinSamples < 1 || g.Resamples < 1 || g.Resamples > 100_000 {
		return fmt.Errorf("%w: disagreement %v, %d samples, %d resamples", ErrGoal, g.Disagreement, g.MinSamples,
			g.Resamples)
	}
	return nil
}

// Report is what a stream is evidence of. It changes nothing.
type Report struct {
	Records  int            `json:"records"`
	Skipped  int            `json:"skipped"`            // lines that are no records
	Repeated int            `json:"repeated,omitempty"` // lines that were there before, left out
	Intents  []IntentReport `json:"intents"`
}

// IntentReport is what it says of one intent: of answers that are text, and apart from those of the other forms, which
// one threshold serves with them.
type IntentReport struct {
	Intent    string  `json:"intent"`
	Requests  uint64  `json:"requests"`  // that the classifier decided, shadowed or not
	Threshold float64 `json:"threshold"` // last in force
	FormReport
	ToolCalls   *FormReport `json:"tool_calls,omitempty"` // at least one of the two answers calls tools
	JSON        *FormReport `json:"json,omitempty"`       // the request asked for JSON
	Correctness []PassRate  `json:"correctness"`
}

// FormReport is what second opinions on answers of one form say.
type FormReport struct {
	Comparisons int             `json:"comparisons"`       // that a threshold caused
	Classes     map[Class]int   `json:"classes,omitempty"` // of all comparisons
	Calls       map[Match]int   `json:"calls,omitempty"`   // how tool calls related, of all comparisons
	Reliability Reliability     `json:"reliability"`
	Thresholds  []ThresholdCost `json:"thresholds"`
	Recommended Recommendation  `json:"recommended"`
	Promotions  []Promotion     `json:"promotions"`
}

// Report says what s is evidence of. The same records and goal give the same Report.
func (s *Study) Report(g Goal) (Report, error) {
	if err := g.check(); err != nil {
		return Report{}, err
	}
	r := Report{Records: s.records, Skipped: s.skipped, Repeated: s.repeated, Intents: []IntentReport{}}
	for _, name := range slices.Sorted(maps.Keys(s.intents)) {
		r.Intents = append(r.Intents, s.intents[name].report(name, g))
	}
	return r, nil
}

func (e *evidence) report(name string, g Goal) IntentReport {
	r := IntentReport{Intent: name, Threshold: e.threshold, FormReport: e.opinionsOf(FormText).report(g),
		Correctness: e.passRates()}
	for _, n := range e.counts {
		r.Requests += n
	}
	if len(e.judged) > 0 { // of answers, whatever their form
		r.Reliability = reliability(e.judged, "verdicts")
	}
	if o := e.forms[FormCalls]; o != nil {
		calls := o.report(g)
		r.ToolCalls = &calls
	}
	if o := e.forms[FormJSON]; o != nil {
		json := o.report(g)
		r.JSON = &json
	}
	return r
}

func (o *opinions) report(g Goal) FormReport {
	return FormReport{
		Comparisons: len(o.samples), Classes: o.classes, Calls: o.calls,
		Reliability: reliability(o.trials(), "agreement"), Thresholds: o.costs(), Recommended: o.recommend(g),
		Promotions: o.promotions(g.MinSamples),
	}
}

// ThresholdCost is what one threshold would have cost and caught.
type ThresholdCost struct {
	Threshold float64  `json:"threshold"`
	Shadowed  *float64 `json:"shadowed"` // share of all requests that would get a shadow; null where no tally says
	Caught    *float64 `json:"caught"`   // share of the observed disagreements below it; null without any
	Wasted    *float64 `json:"wasted"`   // share of the shadows below it that agreed; null without any
	// a threshold this high was in force; beyond, disagreements are unseen and Caught is of those seen
	Observed bool `json:"observed"`
}

// costs sweeps thresholds in steps of a twentieth, and the one in force.
func (o *opinions) costs() []ThresholdCost {
	at := []float64{o.in.threshold}
	for i := range 21 {
		at = append(at, float64(i)/20)
	}
	slices.Sort(at)
	var all []ThresholdCost
	for _, t := range slices.Compact(at) {
		all = append(all, o.cost(t))
	}
	return all
}

func (o *opinions) cost(threshold float64) ThresholdCost {
	var below, requests uint64
	for i, n := range o.in.counts {
		requests += n
		if float64(i)/Buckets < threshold-1e-9 {
			below += n
		}
	}
	var shadows, agreed, caught, disagreements int
	for _, s := range o.samples {
		if s.disagrees {
			disagreements++
		}
		if s.confidence >= threshold {
			continue
		}
		if shadows++; s.disagrees {
			caught++
		} else {
			agreed++
		}
	}
	return ThresholdCost{
		Threshold: threshold, Shadowed: share(below, requests), Caught: share(caught, disagreements),
		Wasted:   share(agreed, shadows),
		Observed: threshold <= o.in.highest+1e-9,
	}
}

// share is a part of a whole, nil where there is no whole.
func share[N int | uint64](part, whole N) *float64 {
	if whole == 0 {
		return nil
	}
	s := float64(part) / float64(whole)
	return &s
}

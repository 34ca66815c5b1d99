package calibration

import (
	"cmp"
	"maps"
	"slices"
)

// Study gathers what a stream of records says. The zero Study is empty.
type Study struct {
	intents map[string]*evidence
	records int
	skipped int // lines that were no records
}

// evidence is what is known of one intent.
type evidence struct {
	counts    [Buckets]uint64 // of all requests that the classifier decided
	threshold float64         // last one in force
	highest   float64         // threshold that was ever in force: above it nothing is known of disagreements
	samples   []sample        // of examples with a confidence that a threshold caused
	judged    []trial         // verdicts with a confidence
	duels     map[duel]*score
	passed    map[Lane]*score // verdicts: wins are passes
}

// sample is one comparison.
type sample struct {
	confidence float64
	disagrees  bool
	lost       bool // the shadow's answer was the better one
}

// trial is one answer that was or was not what it was trusted to be.
type trial struct {
	confidence float64
	good       bool
}

// duel is two lanes, one the other's shadow.
type duel struct{ primary, shadow Lane }

// score counts how one side did.
type score struct{ wins, losses, ties, open int }

// Line adds one line of a stream. What is no record is counted and left out.
func (s *Study) Line(line []byte) {
	r, err := Parse(line)
	if err != nil {
		s.skipped++
		return
	}
	s.Add(r)
}

// Add adds a record.
func (s *Study) Add(r Record) {
	s.records++
	switch {
	case r.Example != nil:
		s.of(r.Example.Intent).example(r.Example)
	case r.Tally != nil:
		s.of(r.Tally.Intent).tally(r.Tally)
	case r.Verdict != nil:
		s.of(r.Verdict.Intent).verdict(r.Verdict)
	}
}

func (s *Study) of(intent string) *evidence {
	if s.intents == nil {
		s.intents = map[string]*evidence{}
	}
	e := s.intents[intent]
	if e == nil {
		e = &evidence{duels: map[duel]*score{}, passed: map[Lane]*score{}}
		s.intents[intent] = e
	}
	return e
}

func (e *evidence) inForce(threshold float64) {
	e.threshold, e.highest = threshold, max(e.highest, threshold)
}

func (e *evidence) example(x *Example) {
	if x.Cause == ByThreshold && x.Confidence != nil {
		e.inForce(x.Threshold)
		e.samples = append(e.samples, sample{*x.Confidence, x.Class.Disagrees(), x.Class == ShadowBetter})
	}
	key := duel{x.Primary, x.Shadow}
	if e.duels[key] == nil {
		e.duels[key] = &score{}
	}
	switch d := e.duels[key]; x.Class {
	case ShadowBetter:
		d.wins++
	case PrimaryBetter:
		d.losses++
	case Agree:
		d.ties++
	default:
		d.open++
	}
}

func (e *evidence) tally(t *Tally) {
	e.inForce(t.Threshold)
	for i, n := range t.Counts {
		e.counts[i] += n
	}
}

func (e *evidence) verdict(v *Verdict) {
	if v.Confidence != nil {
		e.judged = append(e.judged, trial{*v.Confidence, v.Pass})
	}
	if e.passed[v.Lane] == nil {
		e.passed[v.Lane] = &score{}
	}
	if v.Pass {
		e.passed[v.Lane].wins++
	} else {
		e.passed[v.Lane].losses++
	}
}

// trials are what the confidences are held against: verdicts on answers, else whether a second opinion was the same or
// worse.
func (e *evidence) trials() (all []trial, basis string) {
	if len(e.judged) > 0 {
		return e.judged, "verdicts"
	}
	for _, s := range e.samples {
		all = append(all, trial{s.confidence, !s.disagrees})
	}
	return all, "agreement"
}

func sortedLanes(m map[Lane]*score) []Lane { return slices.SortedFunc(maps.Keys(m), compareLanes) }

func compareLanes(a, b Lane) int {
	return cmp.Or(cmp.Compare(a.Specialist, b.Specialist), cmp.Compare(a.Adapter, b.Adapter),
		cmp.Compare(a.Version, b.Version))
}

func sortedDuels(m map[duel]*score) []duel {
	return slices.SortedFunc(maps.Keys(m), func(a, b duel) int {
		return cmp.Or(compareLanes(a.shadow, b.shadow), compareLanes(a.primary, b.primary))
	})
}

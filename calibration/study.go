package calibration

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
	"time"
)

// Study gathers what a stream of records says. The zero Study is empty.
type Study struct {
	intents  map[string]*evidence
	records  int
	skipped  int               // lines that were no records
	repeated int               // lines that were there before
	seen     map[mark]struct{} // of lines that name what they are of
}

// mark is what a line is known by: a part of its SHA-256.
type mark [16]byte

// evidence is what is known of one intent.
type evidence struct {
	counts    [Buckets]uint64 // of all requests that the classifier decided
	threshold float64         // last one in force
	since     time.Time       // of the record that says so
	highest   float64         // threshold that was ever in force: above it nothing is known of disagreements
	judged    []trial         // verdicts with a confidence
	passed    map[Lane]*score // verdicts: wins are passes
	forms     map[Form]*opinions
}

// opinions are the second opinions on the answers of one intent that are of one form. Forms are held apart: they differ
// at rates of their own, and how many answers are of which says nothing of either.
type opinions struct {
	in      *evidence
	samples []sample // of examples with a confidence that a threshold caused
	duels   map[duel]*score
	classes map[Class]int // of all examples
	calls   map[Match]int
}

// sample is one comparison.
type sample struct {
	confidence float64
	disagrees  bool
	lost       bool // the shadow's answer was the better one
}

// hit is 1 for a comparison that differs.
func (s sample) hit() int {
	if s.disagrees {
		return 1
	}
	return 0
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

// Line adds one line of a stream. What is no record is counted and left out, and so is a record that was there before:
// two sinks of one gateway, or a file and its copy, have the same lines.
func (s *Study) Line(line []byte) {
	r, err := Parse(line)
	if err != nil {
		s.skipped++
		return
	}
	if r.unique() && s.again(line) {
		s.repeated++
		return
	}
	s.Add(r)
}

// again notes a line, and returns true if it was noted before.
func (s *Study) again(line []byte) bool {
	if s.seen == nil {
		s.seen = map[mark]struct{}{}
	}
	sum := sha256.Sum256(line)
	m := mark(sum[:len(mark{})])
	_, there := s.seen[m]
	s.seen[m] = struct{}{}
	return there
}

// Add adds a record.
func (s *Study) Add(r Record) {
	s.records++
	switch {
	case r.Example != nil:
		s.of(r.Example.Intent).example(r.Example, r.Time)
	case r.Tally != nil:
		s.of(r.Tally.Intent).tally(r.Tally, r.Time)
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
		e = &evidence{passed: map[Lane]*score{}, forms: map[Form]*opinions{}}
		s.intents[intent] = e
	}
	return e
}

// inForce notes the threshold of a time. Records come in any order: the files of a stream are named newest first.
func (e *evidence) inForce(threshold float64, at time.Time) {
	if e.highest = max(e.highest, threshold); !at.Before(e.since) {
		e.threshold, e.since = threshold, at
	}
}

// opinionsOf returns those on answers of a form, which may be none yet.
func (e *evidence) opinionsOf(form Form) *opinions {
	o := e.forms[form]
	if o == nil {
		o = &opinions{in: e, duels: map[duel]*score{}, classes: map[Class]int{}, calls: map[Match]int{}}
		e.forms[form] = o
	}
	return o
}

func (e *evidence) example(x *Example, at time.Time) {
	o := e.opinionsOf(x.Form)
	if x.Cause == ByThreshold && x.Confidence != nil {
		e.inForce(x.Threshold, at)
		o.samples = append(o.samples, sample{*x.Confidence, x.Class.Disagrees(), x.Class == ShadowBetter})
	}
	o.classes[x.Class]++
	if x.Calls != "" {
		o.calls[x.Calls]++
	}
	key := duel{x.Primary, x.Shadow}
	if o.duels[key] == nil {
		o.duels[key] = &score{}
	}
	switch d := o.duels[key]; x.Class {
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

func (e *evidence) tally(t *Tally, at time.Time) {
	e.inForce(t.Threshold, at)
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

// trials are what the confidences are held against: whether a second opinion was the same or worse.
func (o *opinions) trials() (all []trial) {
	for _, s := range o.samples {
		all = append(all, trial{s.confidence, !s.disagrees})
	}
	return all
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

package classifier

import (
	"cmp"
	"fmt"
	"slices"
)

// detector knows one structure that decides by itself which specialist a text is for.
type detector struct {
	name      string
	target    string // applies only to an ensemble that has a specialist of this name
	precision float64
	evidence  []evidence
	fires     int              // least score
	unless    func(sheet) bool // what else keeps it from firing; nil = nothing
}

// evidence is what one sight of a cue is worth, up to a number of sights; below 0 it speaks against.
type evidence struct {
	cue    cue
	points int
	most   uint32
}

// score weighs what was seen.
func (d *detector) score(seen *sheet) (total int) {
	for _, e := range d.evidence {
		total += e.points * int(min(seen[e.cue], e.most))
	}
	return total
}

// sees reports whether the detector fires.
func (d *detector) sees(seen *sheet) bool {
	return d.score(seen) >= d.fires && (d.unless == nil || !d.unless(*seen))
}

// cues names what spoke for the detector, the strongest first.
func (d *detector) cues(seen *sheet) []string {
	spoke := slices.DeleteFunc(slices.Clone(d.evidence),
		func(e evidence) bool { return e.points < 0 || seen[e.cue] == 0 })
	slices.SortStableFunc(spoke, func(a, b evidence) int {
		return cmp.Compare(b.points*int(min(seen[b.cue], b.most)), a.points*int(min(seen[a.cue], a.most)))
	})
	names := make([]string, len(spoke))
	for i, e := range spoke {
		names[i] = fmt.Sprintf("%s ×%d", e.cue, seen[e.cue])
	}
	return names
}

// bind returns those of known that apply to an ensemble, in their order.
func bind(known []detector, specialists []string) []*detector {
	var bound []*detector
	for i := range known {
		if slices.Contains(specialists, known[i].target) {
			bound = append(bound, &known[i])
		}
	}
	return bound
}

// fire asks detectors in their order; the first that fires makes v its verdict.
func fire(asked []*detector, seen *sheet, v *Verdict) bool {
	for _, d := range asked {
		if d.sees(seen) {
			v.Specialist, v.RoutedBy, v.Rule = d.target, ByDetector, "detector "+d.name
			v.Confidence, v.Cues = d.precision, d.cues(seen)
			return true
		}
	}
	return false
}

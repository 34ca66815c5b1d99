package receipt

import (
	"slices"
	"strings"
	"sync"
)

// VerifierKind is the kind of the verdicts of the gateway's own verifier.
const VerifierKind = "verifier"

// Reserved reports whether a kind of verdict is the gateway's own.
func Reserved(kind string) bool { return strings.EqualFold(kind, VerifierKind) }

// verdicts are what was said of an answer. Safe for concurrent use.
type verdicts struct {
	mu   sync.Mutex
	list []Outcome
}

func (v *verdicts) all() []Outcome {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.list)
}

// maxOutcomes bounds the verdicts that one receipt takes from outside; there is always room for the verifier's.
const maxOutcomes = 8

// Effect is what a verdict does to the one sample that an answer is.
type Effect int

// The effects of a verdict.
const (
	Refused  Effect = iota // there is one of its kind, or no room
	First                  // it is the sample
	Agrees                 // it is recorded, and the sample is what it was
	Overturn               // what had passed fails
)

// Judge adds a verdict to a receipt that was put, unless there is one of its kind. All that find the receipt see it.
// passedBy is the tenant whose verdict had passed, for Overturn.
func (r *Receipt) Judge(o Outcome) (e Effect, passedBy string) { return r.verdicts.add(o) }

func (v *verdicts) add(o Outcome) (e Effect, passedBy string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.list) >= maxOutcomes && !Reserved(o.Kind) {
		return Refused, ""
	}
	e, failed := First, false
	for _, known := range v.list {
		switch {
		case known.Specialist != o.Specialist:
		case known.Kind == o.Kind:
			return Refused, ""
		case e == First:
			e, passedBy, failed = Agrees, known.By, !known.Pass
		default:
			failed = failed || !known.Pass
		}
	}
	if e == Agrees && !failed && !o.Pass {
		e = Overturn
	}
	v.list = append(v.list, o)
	return e, passedBy
}

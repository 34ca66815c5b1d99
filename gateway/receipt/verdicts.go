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
	of reference // to their receipt, if it is archived; never changes once it is set

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

// Change is what a verdict does to one sample.
type Change struct {
	Effect   Effect
	PassedBy string // the tenant whose verdict had passed, for Overturn
}

// Judged is what a verdict does to the samples that an answer is: one among all answers, and one among those that are
// published under its kind. Both are Refused, or neither is.
type Judged struct {
	Answer, Kind Change
	OnTrial      bool // the answer is a sample of its adapter's probation alone, as its first verdict said
}

// Judge adds a verdict to a receipt that was put, unless there is one of its kind. All that find the receipt see it.
func (r *Receipt) Judge(o Outcome) Judged {
	j := r.verdicts.add(o)
	if of := r.verdicts.of; of.ring != nil && j.Answer.Effect != Refused {
		of.ring.archive.offer(of) // once more: the newer record is found
	}
	return j
}

func (v *verdicts) add(o Outcome) Judged {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.list) >= maxOutcomes && !Reserved(o.Kind) || v.has(o) {
		return Judged{}
	}
	j := Judged{
		Answer: v.changedBy(o, func(known Outcome) bool { return known.Specialist == o.Specialist }),
		Kind: v.changedBy(o, func(known Outcome) bool {
			return known.Specialist == o.Specialist && known.Published == o.Published
		}),
	}
	if j.OnTrial = o.OnTrial; j.Answer.Effect != First {
		j.OnTrial = v.onTrial(o)
	}
	o.OnTrial = j.OnTrial
	v.list = append(v.list, o)
	return j
}

// onTrial returns what the verdicts before o on the same answer are. Under mu.
func (v *verdicts) onTrial(o Outcome) bool {
	return slices.ContainsFunc(v.list, func(known Outcome) bool {
		return known.Specialist == o.Specialist && known.OnTrial
	})
}

// has reports whether there is a verdict of that kind on that answer. Under mu.
func (v *verdicts) has(o Outcome) bool {
	return slices.ContainsFunc(v.list, func(known Outcome) bool {
		return known.Specialist == o.Specialist && known.Kind == o.Kind
	})
}

// changedBy returns what a verdict does to the sample that those before it are, which passes when all of them pass.
// Under mu.
func (v *verdicts) changedBy(o Outcome, counts func(known Outcome) bool) Change {
	c, failed := Change{Effect: First}, false
	for _, known := range v.list {
		if !counts(known) {
			continue
		}
		if c.Effect == First {
			c = Change{Effect: Agrees, PassedBy: known.By}
		}
		failed = failed || !known.Pass
	}
	if c.Effect == Agrees && !failed && !o.Pass {
		c.Effect = Overturn
	}
	return c
}

// Judgement is a verdict that a tenant gives on the answer that a receipt is of.
type Judgement struct {
	Receipt    string
	Tenant     string
	OfAny      bool // it may judge every tenant's answers; else its own
	Kind       string
	Pass       bool
	Specialist string // of whose answer it is; "" is the one that answered
}

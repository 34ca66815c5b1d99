package gateway

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"octet/gateway/apierr"
	"octet/gateway/tenant"
	"octet/slo"
)

// Verdicts says whose verdicts on answers count, from outside.
type Verdicts string

// Whose verdicts count: of tenants with a key on any answer, on answers to themselves, or nobody's. Requests without a
// key never judge: a window that anybody can fill says nothing.
const (
	VerdictsTenants Verdicts = "tenants"
	VerdictsOwn     Verdicts = "own"
	VerdictsNone    Verdicts = "none"
)

// Judges are the tenants that may judge.
type Judges struct {
	Whose Verdicts
	Names []string // of the tenants; empty is all that have a key
}

// permit refuses the verdicts of a tenant that may not judge.
func (j Judges) permit(t *tenant.Tenant) *apierr.Error {
	switch {
	case t.Keyless:
		return apierr.New(apierr.PermissionDenied, "Authorization", "verdicts count with a tenant's key only")
	case j.Whose == VerdictsNone, len(j.Names) > 0 && !slices.Contains(j.Names, t.Name):
		return apierr.New(apierr.PermissionDenied, "", "the verdicts of this key do not count here")
	}
	return nil
}

// reservedKind reports whether a kind of verdict is the gateway's own.
func reservedKind(kind string) bool { return strings.EqualFold(kind, verifierKind) }

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

// maxOutcomes bounds the kinds of verdict that one receipt takes from outside; the gateway's own judge always has a
// place.
const maxOutcomes = 8

// effect is what a verdict does to the one sample that an answer is.
type effect int

const (
	refused  effect = iota // there is one of its kind, or no room
	first                  // it is the sample
	agrees                 // it is taken down, and the sample is what it was
	overturn               // what had passed fails
)

// add takes o unless a verdict of its kind is there. What is overturned had passed by the tenant passedBy.
func (v *verdicts) add(o Outcome) (e effect, passedBy string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.list) >= maxOutcomes && !reservedKind(o.Kind) {
		return refused, ""
	}
	e, failed := first, false
	for _, known := range v.list {
		switch {
		case known.Specialist != o.Specialist:
		case known.Kind == o.Kind:
			return refused, ""
		case e == first:
			e, passedBy, failed = agrees, known.by, !known.Pass
		default:
			failed = failed || !known.Pass
		}
	}
	if e == agrees && !failed && !o.Pass {
		e = overturn
	}
	v.list = append(v.list, o)
	return e, passedBy
}

// weigh counts a verdict on the specialist's answer. All kinds of verdict on one answer are one sample, which passes
// when all of them pass. It reports whether the verdict was taken.
func (sp *Specialist) weigh(r *Receipt, o Outcome) bool {
	v := slo.Verdict{Answered: r.Time, Pass: o.Pass, By: o.by}
	switch e, passedBy := r.verdicts.add(o); e {
	case refused:
		return false
	case first:
		sp.judged(v)
	case overturn:
		sp.Board.Overturn(v, passedBy)
		sp.handles.Verdict(false)
	case agrees:
	default:
		panic(fmt.Sprintf("gateway: a verdict has effect %d", e))
	}
	return true
}

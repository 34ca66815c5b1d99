package gateway

import (
	"context"
	"slices"
	"time"

	"octet/calibration"
	"octet/gateway/apierr"
	"octet/gateway/tenant"
)

// Shadow bounds the second opinions of one configuration. With MaxConcurrent 0 there are none.
type Shadow struct {
	MaxConcurrent int
	Timeout       time.Duration // of a shadow's answer
	AnswerBytes   int64         // kept of either answer; a longer one is not compared
	MaxWaiting    int           // shadows that wait for their primaries' ends
	TallyInterval time.Duration // between two tallies of all confidences; 0 is a minute
	Tolerance     calibration.Tolerance
	Judge         Judge // nil: rules alone compare
	KeepText      bool  // records carry prompts and answers, not their hashes alone
}

// Judge says of two answers which is better, in its own time; ctx ends it.
type Judge interface {
	Judge(ctx context.Context, c calibration.Case) (calibration.Class, error)
}

// Probation is how fresh lanes begin.
type Probation struct {
	ShadowThreshold float64 // in force for what they answer, where it is higher than the intent's
	Share           float64 // of their requests that they answer themselves where they have a fallback
}

// Stickiness is what moving a conversation to another specialist costs, as a probability. With no Conversations nothing
// is remembered.
type Stickiness struct {
	Margin            float64
	PerThousandTokens float64
	Conversations     int
}

// Cost returns by how much another specialist must be likelier to take over a conversation of so many tokens.
func (s Stickiness) Cost(tokens int) float64 {
	return s.Margin + s.PerThousandTokens*float64(tokens)/1000
}

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

// Permit refuses the verdicts of a tenant that may not judge.
func (j Judges) Permit(t *tenant.Tenant) *apierr.Error {
	switch {
	case t.Keyless:
		return apierr.New(apierr.PermissionDenied, "Authorization", "verdicts count with a tenant's key only")
	case j.Whose == VerdictsNone, len(j.Names) > 0 && !slices.Contains(j.Names, t.Name):
		return apierr.New(apierr.PermissionDenied, "", "the verdicts of this key do not count here")
	}
	return nil
}

// ReadyAll is the ReadyWhen of a gateway that is ready only while every specialist has a replica that serves.
const ReadyAll = "all"

package ensemble

import (
	"context"
	"slices"
	"time"

	"octet/calibration"
	"octet/gateway/apierr"
	"octet/gateway/tenant"
)

// Shadow bounds the shadow requests of one configuration. A zero MaxConcurrent turns them off.
type Shadow struct {
	MaxConcurrent int
	Timeout       time.Duration // of a shadow's answer
	AnswerBytes   int64         // kept of either answer; a longer one is not compared
	MaxWaiting    int           // shadows that wait for the end of their primary
	TallyInterval time.Duration // between two tallies of all confidences; zero means a minute
	Tolerance     calibration.Tolerance
	Judge         Judge // nil if rules alone compare
	KeepText      bool  // records carry prompts and answers, not their hashes alone
}

// Judge decides which of two answers is better; it may take long, and ends with ctx.
type Judge interface {
	Judge(ctx context.Context, c calibration.Case) (calibration.Class, error)
}

// Probation is how specialists and adapters begin that are fresh.
type Probation struct {
	ShadowThreshold float64 // for what they answer, if it is higher than the intent's
	Share           float64 // of their requests that they answer themselves, if they have a fallback
}

// Stickiness is the cost, as a probability, of moving a conversation to another specialist. With zero Conversations
// none is remembered.
type Stickiness struct {
	Margin            float64
	PerThousandTokens float64
	Conversations     int
}

// Cost returns by how much another specialist must be likelier to take over a conversation of so many tokens.
func (s Stickiness) Cost(tokens int) float64 {
	return s.Margin + s.PerThousandTokens*float64(tokens)/1000
}

// Verdicts says which verdicts on answers count, of those that come from outside.
type Verdicts string

// Verdicts count of tenants with a key on any answer, of tenants on answers to themselves, or not at all. Requests
// without a key never judge: a window that every client can fill has no meaning.
const (
	VerdictsTenants Verdicts = "tenants"
	VerdictsOwn     Verdicts = "own"
	VerdictsNone    Verdicts = "none"
)

// Judges are the tenants that may judge.
type Judges struct {
	Whose Verdicts
	Names []string // of the tenants; empty means all that have a key
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

package gateway

import (
	"fmt"
	"slices"

	"octet/gateway/apierr"
	"octet/gateway/receipt"
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

// weigh counts a verdict on the specialist's answer. All kinds of verdict on one answer are one sample, which passes
// when all of them pass. It reports whether the verdict was taken.
func (sp *Specialist) weigh(r *receipt.Receipt, o receipt.Outcome) bool {
	v := slo.Verdict{Answered: r.Time, Pass: o.Pass, By: o.By}
	switch e, passedBy := r.Judge(o); e {
	case receipt.Refused:
		return false
	case receipt.First:
		sp.judged(v)
	case receipt.Overturn:
		sp.Board.Overturn(v, passedBy)
		sp.handles.Verdict(false)
	case receipt.Agrees:
	default:
		panic(fmt.Sprintf("gateway: a verdict has effect %d", e))
	}
	return true
}

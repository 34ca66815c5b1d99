package shadow

import (
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/receipt"
	"octet/slo"
)

// Verifier gives verdicts on answers, some time, if it can.
type Verifier interface {
	// Wants reports whether the next answer is of the sample that is judged.
	Wants() bool
	// Largest is the length of the longest answer that is judged, in bytes.
	Largest() int64
	// Offer takes an answer without waiting; verdict is called from another goroutine, or never. False: there was no
	// room.
	Offer(answer string, verdict func(pass bool)) bool
}

// Audit has a Verifier judge answers.
type Audit struct {
	Verifier Verifier // nil: verdicts come from outside alone
	Kind     string   // that its verdicts are published as; "" is receipt.VerifierKind
	Verdicts *Verdicts
	Rings    *receipt.Rings
	Now      func() time.Time
}

// Wants reports whether the next answer is of the sample.
func (a *Audit) Wants() bool { return a.Verifier != nil && a.Verifier.Wants() }

// Largest is the length of the longest answer that is judged, in bytes.
func (a *Audit) Largest() int64 {
	if a.Verifier == nil {
		return 0
	}
	return a.Verifier.Largest()
}

// OnAnswer offers an answer to the verifier. Its verdict comes long after the request has ended.
func (a *Audit) OnAnswer(rt *ensemble.Runtime, r *receipt.Receipt, answer string) {
	a.Verifier.Offer(answer, func(pass bool) {
		a.Verdicts.OnAnswer(rt, r, receipt.Outcome{Kind: receipt.VerifierKind, Published: a.Kind, Pass: pass,
			Time: a.Now()})
	})
}

// Copy is an answer to the copy of a request.
type Copy struct {
	Specialist *ensemble.Specialist
	Tenant     string
	Receipt    string // the id of the request's
	Asked      time.Time
}

// OnCopy offers a specialist's answer to a copy to the verifier: how a demoted one recovers. Its verdict counts for
// that specialist, as one sample with what is said of the copy by the receipt of the request, once there is one.
func (a *Audit) OnCopy(c Copy, answer string) {
	if answer == "" || int64(len(answer)) > a.Largest() {
		return
	}
	a.Verifier.Offer(answer, func(pass bool) {
		o := receipt.Outcome{Kind: receipt.VerifierKind, Published: a.Kind, Specialist: c.Specialist.Name, Pass: pass,
			Time: a.Now()}
		if r, ok := a.Rings.Find(c.Tenant, c.Receipt); ok {
			Count(c.Specialist, r, o)
			return
		}
		sample(c.Specialist, slo.Verdict{Answered: c.Asked, Pass: pass, Kind: a.Kind, Version: c.Specialist.Version})
	})
}

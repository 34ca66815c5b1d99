package gateway

import (
	"fmt"

	"octet/gateway/ensemble"
	"octet/gateway/receipt"
	"octet/slo"
)

// weigh counts a verdict on the specialist's answer. All kinds of verdict on one answer are one sample, which passes
// when all of them pass. It reports whether the verdict was taken.
func weigh(sp *ensemble.Specialist, r *receipt.Receipt, o receipt.Outcome) bool {
	v := slo.Verdict{Answered: r.Time, Pass: o.Pass, By: o.By}
	switch e, passedBy := r.Judge(o); e {
	case receipt.Refused:
		return false
	case receipt.First:
		judged(sp, v)
	case receipt.Overturn:
		sp.Board.Overturn(v, passedBy)
		sp.Metrics.Verdict(false)
	case receipt.Agrees:
	default:
		panic(fmt.Sprintf("gateway: a verdict has effect %d", e))
	}
	return true
}

package gateway

import (
	"fmt"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
)

// decide picks the specialist. A request that is refused on the way has a receipt of what was decided so far.
func (x *exchange) decide() error {
	r, d, decider := &x.request, &x.decision, &x.s.decider
	if err := decider.Route(x.rt, r, d); err != nil {
		return err
	}
	if !r.Dry {
		x.s.shadows.comparer.Records.Tally(&d.Verdict)
	}
	x.openReceipt()
	if !r.Tenant.Permits(d.Specialist) {
		return apierr.New(apierr.PermissionDenied, "model", fmt.Sprintf("this key may not use %q", d.Specialist))
	}
	if err := x.relieve(); err != nil {
		return err
	}
	x.sampleForJudge()
	return x.checkLength(d.In(x.rt))
}

// relieve changes the decision by what is in force, and counts the request for the specialist that is to answer it.
func (x *exchange) relieve() error {
	r, d := &x.request, &x.decision
	if err := x.s.decider.Relieve(x.rt, r, d); err != nil {
		return err
	}
	if d.Specialist != x.receipt.Decision().Specialist || d.Demoted != "" {
		x.recordDecision()
	}
	if sp := d.In(x.rt); !r.Dry && sp.Metrics != nil {
		sp.Metrics.Offer(r.Intent.Priority)
	}
	return x.s.decider.Floor(x.rt, r, d)
}

// checkLength refuses answers that cannot fit in the specialist's context however short the prompt is.
func (x *exchange) checkLength(sp *ensemble.Specialist) error {
	if sp.MaxContext() > 0 && x.request.Parsed.MaxTokens >= sp.MaxContext() {
		return apierr.New(apierr.ContextLength, "max_tokens",
			fmt.Sprintf("max_tokens is %d, the context of %s is %d", x.request.Parsed.MaxTokens, sp.Name,
				sp.MaxContext()))
	}
	return nil
}

package tenant

import (
	"fmt"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/tenant/budget"
)

// Metered returns true if the tenant's tokens are limited, by a rate or a budget.
func (t *Tenant) Metered() bool { return t.tokens != nil || t.budget.Any() }

// CheckBudget refuses if nothing is left of the tenant's budget. It takes nothing.
func (t *Tenant) CheckBudget(arrival time.Time) *apierr.Error {
	return t.usedUp(t.account.Check(arrival, t.budget), arrival)
}

// Reserve takes n tokens of the tenant's budget for a request, in the day and the month of its arrival.
func (t *Tenant) Reserve(arrival, now time.Time, n int) *apierr.Error {
	if !t.budget.Any() {
		return nil
	}
	if no := t.usedUp(t.account.Take(arrival, int64(n), t.budget), now); no != nil {
		return no
	}
	t.tell(Used{Budget: n})
	return nil
}

// Spend counts what a request came to, for which so much was reserved. Of a tenant without a budget no other gateway is
// told at once: nothing waits for that count.
func (t *Tenant) Spend(arrival, now time.Time, reserved, cost int) {
	if t.budget.Any() {
		t.account.Add(arrival, now, int64(cost-reserved))
	} else {
		reserved = 0
		t.account.Owe(arrival, now, int64(cost))
	}
	t.tell(Used{Budget: cost - reserved})
}

// Budget returns what the tenant may use; zero means no limit.
func (t *Tenant) Budget() budget.Limits { return t.budget }

// Usage returns what the tenant has used.
func (t *Tenant) Usage(now time.Time) budget.Usage { return t.account.Usage(now) }

// usedUp is the answer to a refusal: the time is in the message, and Retry-After is as long as it is.
func (t *Tenant) usedUp(no *budget.Refusal, now time.Time) *apierr.Error {
	if no == nil {
		return nil
	}
	e := &apierr.Error{Code: apierr.QuotaExceeded}
	of := fmt.Sprintf("of the key's budget of %d tokens a %s %d are left", no.Limit, no.Span, no.Left)
	switch {
	case no.Never:
		e.Message = of + ", and the prompt is longer than all of it"
		return e
	case no.Resets.IsZero():
		e.Message = of + " in all, and this gateway's part of them is used up"
		return e
	}
	e.Message = of + "; the next begins at " + no.Resets.Format(time.RFC3339)
	e.RetryAfter, e.Exact = max(no.Resets.Sub(now), time.Second), true
	return e
}

package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
	"octet/gateway/tenant/budget"
)

// Usage answers GET /v1/usage: what the tenant has used of its budgets. Requests without a key are told nothing: what
// they have used together is of no client's business.
type Usage struct {
	Refuse Refuse
	Now    func() time.Time
}

// usage is the answer.
type usage struct {
	Object string `json:"object"`
	Tenant string `json:"tenant"`
	Day    period `json:"day"`
	Month  period `json:"month"`
	Shared bool   `json:"shared"` // of all gateways; else of this one
	Stale  bool   `json:"stale"`  // the others' part is of earlier
}

// period is a day or a month of UTC. Without a limit Limit and Remaining are null.
type period struct {
	Starts    time.Time `json:"starts"`
	Resets    time.Time `json:"resets"`
	Tokens    int64     `json:"tokens"`
	Limit     *int64    `json:"limit"`
	Remaining *int64    `json:"remaining"`
}

// Handle answers for the request's tenant.
func (h Usage) Handle(c *gin.Context, _ *ensemble.Runtime, t *tenant.Tenant) {
	if t.Keyless {
		h.Refuse(c, apierr.New(apierr.PermissionDenied, "Authorization",
			"usage is told to tenants: send a key, Authorization: Bearer KEY"))
		return
	}
	used, limits := t.Usage(h.Now()), t.Budget()
	c.JSON(http.StatusOK, usage{Object: "usage", Tenant: t.Name, Day: periodOf(used.Day, limits.Day),
		Month: periodOf(used.Month, limits.Month), Shared: used.Shared, Stale: used.Stale})
}

func periodOf(u budget.Used, limit int64) period {
	p := period{Starts: u.Starts, Resets: u.Resets, Tokens: u.Tokens}
	if limit > 0 {
		left := max(limit-u.Tokens, 0)
		p.Limit, p.Remaining = &limit, &left
	}
	return p
}

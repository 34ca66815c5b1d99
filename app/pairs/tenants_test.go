package pairs

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// tenantFeatures are limits of a tenant, and what it says of a request.
var tenantFeatures = []*feature{
	{
		name: "permitted",
		after: func(c *cell) {
			for what, change := range map[string]func(*question){
				"named": func(q *question) {
					delete(q.headers, adapterHeader) // beta has none
					if q.model, q.must = "beta", "permission_denied"; q.headers[replicaHeader] != "" {
						q.headers[replicaHeader] = "beta-0"
					}
				},
				"text": func(q *question) {
					q.lead, q.second, q.sure, q.must = "beta", "alpha", 0.9, "permission_denied"
					q.model, q.headers, q.session = "octet", map[string]string{}, ""
				},
			} {
				if a := c.ask("acme", what == "text", change); a.status == http.StatusForbidden {
					c.showed("permitted")
				}
			}
		},
	},
	{
		name:  "salt",
		shape: func(_ *cell, q *question) { q.members["cache_salt"] = "my own" },
		seen:  func(a *answer) bool { return a.done },
	},
	{
		name: "key",
		after: func(c *cell) {
			for _, key := range []string{"", "nobody's"} {
				a := c.ask("rival", key == "", func(q *question) { q.key, q.must = key, "invalid_api_key" })
				if a.status == http.StatusUnauthorized {
					c.showed("key")
				}
			}
		},
	},
	{
		name: "tokens",
		between: func(c *cell) {
			acme, now := c.tenant("acme"), time.Now()
			left := int(c.balanceOf("acme"))
			acme.Settle(now, 0, left+1000) // ten seconds' worth are owed
			a := c.ask("acme", true, func(q *question) { q.must = "quota_exceeded" })
			if a.status == http.StatusTooManyRequests {
				c.showed("tokens")
			}
			if rival := c.ask("rival", false); rival.code == "quota_exceeded" {
				c.t.Errorf("%s pays for acme", rival.id)
			}
			acme.Settle(time.Now(), 0, -left-1000)
		},
	},
	{
		name: "budget",
		sets: []string{"auth.tenants[0].budget.tokens_per_day=1000000"},
		between: func(c *cell) {
			acme, now := c.tenant("acme"), time.Now()
			used := int64(1000000)
			acme.Spend(now, now, 0, int(used))
			a := c.ask("acme", true, func(q *question) { q.must = "quota_exceeded" })
			c.unasked(a)
			if a.status == http.StatusTooManyRequests {
				c.showed("budget")
			}
			if rival := c.ask("rival", false); rival.code == "quota_exceeded" {
				c.t.Errorf("%s pays for acme", rival.id)
			}
			c.sets = append(c.sets, "auth.tenants[0].budget.tokens_per_day=9000000")
			c.reload()
			c.spent["acme"] += used
		},
	},
	{
		name: "idempotency",
		shape: func(c *cell, q *question) {
			// both tenants say the same keys
			q.headers["Idempotency-Key"] = fmt.Sprint("key ", c.round.Load(), q.stream)
			if c.openKey == "" && q.stream {
				c.openKey = q.headers["Idempotency-Key"]
			}
		},
		midway: func(c *cell) {
			a := c.ask("acme", true, func(q *question) {
				q.headers["Idempotency-Key"] = c.openKey
				q.may = append(q.may, "idempotency_conflict", "quota_exceeded")
			})
			if a.code == "idempotency_conflict" {
				c.showed("idempotency")
			}
		},
		after: func(c *cell) { // each key can be used again for the same body, once its request is over
			for _, a := range slices.Clone(c.asked) {
				key := a.headers["Idempotency-Key"]
				if key == "" || a.code == "idempotency_conflict" || a.code == "quota_exceeded" {
					continue
				}
				c.ask(a.tenant, a.stream, func(q *question) {
					q.raw, q.model, q.tokens, q.members, q.hides = a.body(), a.model, a.tokens, a.members, a.hides
					q.headers["Idempotency-Key"] = key
				})
				return
			}
		},
	},
	{
		name:  "priority",
		shape: header("X-Priority", "50"),
		seen: func(a *answer) bool {
			return a.receipt != nil && a.receipt.Asked.Priority == 50 &&
				a.receipt.Asked.PriorityInUse == ceilings[a.tenant]
		},
	},
	{
		name: "streams",
		sets: []string{"auth.tenants[0].max_streams=1"},
		midway: func(c *cell) {
			a := c.ask("acme", false, func(q *question) { q.may = append(q.may, "quota_exceeded") })
			if a.code == "quota_exceeded" {
				c.showed("streams")
			}
		},
	},
}

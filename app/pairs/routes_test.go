package pairs

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// routeFeatures decide where a request goes, and by when.
var routeFeatures = []*feature{
	{name: "shadow", shape: unsure, seen: func(a *answer) bool { return a.head.Get("X-Shadow") != "" }},
	{
		name:   "probation",
		before: func(c *cell) { c.sets = append(c.sets, c.lead0("version=2")); c.reload() },
		seen: func(a *answer) bool {
			return a.receipt != nil && strings.HasSuffix(a.receipt.Decision.Rule, "is on probation") ||
				a.head.Get("X-Shadow") != ""
		},
	},
	{
		name: "second choice", sets: []string{"LEAD.scheduler.max_running=1", "LEAD.scheduler.max_waiting=0"},
		shape:  unsure,
		before: func(c *cell) { c.hold(c.lead, 120) },
		may:    []string{"queue_full"},
		seen: func(a *answer) bool {
			return a.done && a.receipt != nil && a.receipt.Result.Specialist == a.second && a.model == "octet"
		},
	},
	{
		name: "stickiness", sets: []string{"auth.tenants[0].specialists[2]=beta", "router.stickiness.margin=1"},
		shape:  header("X-Session-Id", "talk"),
		before: talkToBeta, audit: auditStay,
		seen: func(a *answer) bool {
			return a.receipt != nil && strings.HasPrefix(a.receipt.Decision.Rule, "the conversation stays")
		},
	},
	{ // nothing but a declaration, the tenant's rights and a demotion ends what a margin would not hold
		name: "tool loop", sets: []string{"auth.tenants[0].specialists[2]=beta", "router.stickiness.per_1k_tokens=0"},
		shape: func(c *cell, q *question) {
			q.headers["X-Session-Id"], q.inLoop = "talk", true
		},
		before: talkToBeta, audit: auditStay,
		seen: func(a *answer) bool {
			return a.receipt != nil &&
				strings.HasPrefix(a.receipt.Decision.Rule, "the conversation stays: its tool loop")
		},
	},
	{
		name: "slo",
		midway: func(c *cell) {
			for _, path := range []string{"/v1/slo", "/v1/models"} {
				var told any
				if status := c.read("acme", path, &told); status != http.StatusOK {
					c.t.Errorf("%s: status %d", path, status)
				}
				if text := fmt.Sprint(told); strings.Contains(text, "beta") || !strings.Contains(text, "alpha") {
					c.t.Errorf("acme reads %s", text)
				}
			}
			if status := c.read("acme", "/v1/slo/beta", nil); status != http.StatusNotFound {
				c.t.Errorf("acme reads of beta: status %d", status)
			}
			if status := c.read("rival", "/v1/slo/beta", nil); status != http.StatusOK {
				c.t.Errorf("rival reads of beta: status %d", status)
			}
			q := c.question("acme", false) // is not charged
			q.door = ""                    // decisions are asked for in the words of a chat
			if status, _ := c.post("acme", "/v1/route", q.body()); status != http.StatusOK && len(q.may) == 0 &&
				status != http.StatusTooManyRequests {
				c.t.Errorf("acme's decision: status %d", status)
			}
			c.showed("slo")
		},
	},
	{
		name: "deadline", shape: header("X-Deadline-Ms", "3500"), may: []string{"deadline_unachievable"},
		sets:  onePlace,
		after: func(c *cell) { c.hopeless("deadline", "X-Deadline-Ms", "120") },
	},
	{
		name: "first token", shape: header("X-TTFT-Deadline-Ms", "1500"), may: []string{"deadline_unachievable"},
		sets:  onePlace,
		after: func(c *cell) { c.hopeless("first token", "X-TTFT-Deadline-Ms", "5") },
	},
	{
		name: "leg", lead: "gamma",
		seen: func(a *answer) bool {
			return a.receipt != nil && len(a.receipt.Attempts) > 1 && a.receipt.Attempts[0].Replica == "gamma-p"
		},
	},
	{
		name: "rules", world: strings.NewReplacer("    profile: cache-aware\n", ""),
		sets: []string{"limits.profile_headers[0]=X-Shade",
			"LEAD.profiles[0].when.header.X-Shade=dark", "LEAD.profiles[0].use=shaded",
			"LEAD.profiles[1].use=cache-aware"},
		shape: func(_ *cell, q *question) {
			if q.tenant == "acme" {
				q.headers["X-Shade"] = "dark"
			}
		},
		audit: func(c *cell, a *answer) {
			want := "cache-aware"
			if a.headers["X-Shade"] != "" {
				want = "shaded"
			}
			if a.done && a.specialist() == c.lead && a.profile() != want {
				c.t.Errorf("%s goes by the profile %q", a.id, a.profile())
			}
		},
		seen: func(a *answer) bool { return a.receipt != nil && a.profile() == "shaded" },
	},
	{
		name: "adapter", shape: func(c *cell, q *question) { q.model = c.lead + ":gdb-v2" },
		seen: func(a *answer) bool { return a.done && a.head.Get("X-Adapter") == "gdb-v2" },
	},
}

// onePlace has each replica run one request at a time.
var onePlace = []string{"specialists[0].scheduler.max_running=1", "specialists[1].scheduler.max_running=1",
	"specialists[2].scheduler.max_running=1"}

// talkToBeta has both tenants talk to beta; then the first may not any more.
func talkToBeta(c *cell) {
	for _, tenant := range []string{"acme", "rival"} {
		c.ask(tenant, false, func(q *question) {
			q.lead, q.second = "beta", c.lead
			delete(q.headers, replicaHeader)
		})
	}
	c.sets = slices.DeleteFunc(c.sets, func(s string) bool { return strings.Contains(s, "=beta") })
	c.reload()
	c.forgetHeard()
}

// auditStay holds the second tenant's answers to the specialist of their conversation.
func auditStay(c *cell, a *answer) {
	if a.done && a.tenant == "rival" && a.model == "octet" && a.specialist() != "beta" {
		c.t.Errorf("%s leaves its conversation for %s", a.id, a.specialist())
	}
}

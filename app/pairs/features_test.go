package pairs

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// feature is one side of a pair. Its hooks run in the order of the script, see run.
type feature struct {
	name    string
	sets    []string // keys of the configuration; LEAD is the specialist that is asked
	lead    string   // the specialist that is asked; "" leaves it
	may     []string // codes in which questions may end because of it
	shape   func(*cell, *question)
	before  func(*cell)          // before the first question
	midway  func(*cell)          // while a stream of each tenant is open
	between func(*cell)          // after the first streams and whole answers
	after   func(*cell)          // after the last question
	audit   func(*cell, *answer) // what holds of an answer of these cells
	seen    func(*answer) bool   // an answer that shows the feature; nil if hooks tell
}

// header returns a shape that sets a header.
func header(name, value string) func(*cell, *question) {
	return func(_ *cell, q *question) { q.headers[name] = value }
}

// unsure is a question of which the second choice may take a part.
func unsure(_ *cell, q *question) { q.sure = min(q.sure, 0.6) }

// named asks for the lead by its name, with a priority.
func named(model string, priority int, tokens int) func(*question) {
	return func(q *question) {
		q.model, q.tokens, q.opening = model, tokens, q.id+" takes a place "
		q.headers = map[string]string{"X-Priority": fmt.Sprint(priority)}
		q.may = append(q.may, "queue_full", "kv_exhausted", "deadline_unachievable", "no_healthy_replica",
			"upstream_reset", "breaker_open", "priority_floor")
	}
}

// answering are the replicas of the lead that send answers.
func (c *cell) answering() []string {
	if c.lead == "gamma" {
		return []string{"gamma-d"}
	}
	return specialists[c.lead]
}

var tenantFeatures = []*feature{
	{
		name: "permitted",
		after: func(c *cell) {
			for what, change := range map[string]func(*question){
				"named": func(q *question) { q.model, q.must = "beta", "permission_denied" },
				"text": func(q *question) {
					q.lead, q.second, q.sure, q.must = "beta", "alpha", 0.9, "permission_denied"
					q.model, q.headers = "octet", map[string]string{}
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
					q.raw, q.model, q.tokens, q.members = a.body(), a.model, a.tokens, a.members
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
		shape: header("X-Session-Id", "talk"),
		before: func(c *cell) { // both talk to beta; then acme may not any more
			for _, tenant := range []string{"acme", "rival"} {
				c.ask(tenant, false, func(q *question) { q.lead, q.second = "beta", c.lead })
			}
			c.sets = slices.DeleteFunc(c.sets, func(s string) bool { return strings.Contains(s, "=beta") })
			c.reload()
			c.forgetHeard()
		},
		audit: func(c *cell, a *answer) {
			if a.done && a.tenant == "rival" && a.model == "octet" && a.specialist() != "beta" {
				c.t.Errorf("%s leaves its conversation for %s", a.id, a.specialist())
			}
		},
		seen: func(a *answer) bool {
			return a.receipt != nil && strings.HasPrefix(a.receipt.Decision.Rule, "the conversation stays")
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
		name: "adapter", shape: func(c *cell, q *question) { q.model = c.lead + ":gdb-v2" },
		seen: func(a *answer) bool { return a.done && a.head.Get("X-Adapter") == "gdb-v2" },
	},
}

// onePlace has each replica run one request at a time.
var onePlace = []string{"specialists[0].scheduler.max_running=1", "specialists[1].scheduler.max_running=1",
	"specialists[2].scheduler.max_running=1"}

var lifeFeatures = []*feature{
	{
		name: "preemption", sets: []string{"LEAD.scheduler.max_running=1"},
		midway: func(c *cell) {
			for range c.answering() {
				c.beside(func() { c.ask("rival", true, named(c.lead, 10, 16)) })
			}
			time.Sleep(5 * step) // in a bubble
		},
		seen: func(a *answer) bool { return a.receipt != nil && a.receipt.Result.Preempted > 0 },
	},
	{
		name:   "takeover",
		before: func(c *cell) { c.fault(c.answering()[0], `{"kind":"die_after_tokens","k":4,"times":1}`) },
		shape:  func(c *cell, q *question) { q.mayIf(c.lead == "gamma", "upstream_reset") },
		seen:   func(a *answer) bool { return a.receipt != nil && a.receipt.Result.Continued > 0 },
	},
	{
		name: "failed takeover",
		before: func(c *cell) {
			for _, name := range c.answering() {
				c.fault(name, `{"kind":"die_after_tokens","k":4,"times":99}`)
			}
		},
		between: func(c *cell) { c.mend(); time.Sleep(2 * time.Second) }, // in a bubble
		may:     []string{"upstream_reset", "no_healthy_replica"},
		shape:   func(c *cell, q *question) { q.mayIf(c.lead == "gamma", "breaker_open") },
		seen:    func(a *answer) bool { return a.code == "upstream_reset" && a.text != "" },
	},
	{
		name:   "retry",
		before: func(c *cell) { c.fault(c.answering()[0], `{"kind":"die_after_headers","times":1}`) },
		shape:  func(c *cell, q *question) { q.mayIf(c.lead == "gamma", "upstream_reset") },
		seen: func(a *answer) bool {
			return a.receipt != nil && slices.ContainsFunc(a.receipt.Attempts, func(at attempt) bool {
				return at.Outcome == "upstream_reset"
			})
		},
	},
	{
		name: "no rate", sets: []string{"LEAD.scheduler.max_running=1", "LEAD.scheduler.max_waiting=0"},
		before: func(c *cell) { c.hold(c.lead, 60) },
		may:    []string{"queue_full"},
		seen:   func(a *answer) bool { return a.code == "queue_full" },
	},
	{
		name: "floor",
		before: func(c *cell) {
			c.control(http.MethodPut, "http://admin/admin/knobs/priority_floor.review",
				`{"value": 0, "by": "me", "why": "a test", "for": "60s"}`)
		},
		midway: func(c *cell) {
			a := c.ask("rival", true, func(q *question) {
				delete(q.headers, "Idempotency-Key")
				q.headers["X-Priority"], q.must = "-5", "priority_floor"
			})
			if a.code == "priority_floor" {
				c.showed("floor")
			}
		},
	},
	{
		name: "drain",
		midway: func(c *cell) {
			c.control(http.MethodPost, "http://admin/admin/drain/"+c.answering()[0], "{}")
		},
		between: func(c *cell) {
			c.control(http.MethodDelete, "http://admin/admin/drain/"+c.answering()[0], "{}")
			c.showed("drain")
		},
		shape: func(c *cell, q *question) { q.mayIf(c.lead == "gamma", "no_healthy_replica") },
	},
	{
		name: "reload",
		midway: func(c *cell) { // what the other feature does meanwhile is done under both configurations
			before := c.enters()
			c.reload(c.lead0("scheduler.aging=1s"))
			if after := c.enters(); after != before {
				c.t.Errorf("acme can open %d more requests, before the reload %d", after, before)
			}
			for _, f := range c.features {
				if f.midway != nil && f.name != "reload" {
					f.midway(c)
				}
			}
			c.showed("reload")
		},
	},
	{
		name: "late verdict",
		midway: func(c *cell) { // there is no answer yet
			if status, counted := c.judge("acme", "no such receipt", "compile"); status != 404 || counted {
				c.t.Errorf("a verdict on nothing: status %d, counted %v", status, counted)
			}
		},
		after: func(c *cell) {
			c.judgeAll("test")
			c.reload(c.lead0("scheduler.aging=2s"))
			c.showed("late verdict")
		},
	},
}

// all are the features of the table.
func all() []*feature { return slices.Concat(tenantFeatures, routeFeatures, lifeFeatures) }

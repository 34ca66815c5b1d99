package pairs

import (
	"net/http"
	"slices"
	"time"
)

// lifeFeatures are what happens to a request while it waits and runs.
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
	{ // clients that leave in the midst of a stream, and come again with the same
		name: "hang up",
		midway: func(c *cell) {
			for _, tenant := range []string{"acme", "rival"} {
				c.beside(func() { c.hangUp(tenant) })
			}
			time.Sleep(8 * step) // in a bubble
		},
		seen: func(a *answer) bool { return a.left },
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
		name: "withdrawal",
		midway: func(c *cell) {
			gone := c.answering()[0]
			c.Replica(gone).Fleet.ShutDown(time.Time{}, time.Now())
			a := c.ask("rival", true, func(q *question) { delete(q.headers, "Idempotency-Key") })
			if c.sent(gone, a.id) {
				c.t.Errorf("%s has announced its end and is sent %s", gone, a.id)
			}
			c.showed("withdrawal")
		},
		between: func(c *cell) { c.Replica(c.answering()[0]).Fleet.Undrain() },
		shape: func(c *cell, q *question) {
			q.mayIf(c.lead == "gamma", "no_healthy_replica")
			q.mayIf(c.has("failed takeover"), "breaker_open")
		},
	},
	{
		name: "shedding", sets: []string{"LEAD.scheduler.max_running=1", "LEAD.scheduler.max_waiting=4",
			"LEAD.slo.escalation.hold=200ms", "LEAD.slo.escalation.shed=0.6", "LEAD.slo.escalation.calm=1s"},
		before: func(c *cell) { // the queue is full, and holds so for two holds and more
			for range 6 * len(c.answering()) {
				c.beside(func() { c.ask("rival", true, named(c.lead, 10, 120)) })
				time.Sleep(time.Millisecond) // in a bubble
			}
			floored := false
			for range 6 { // from one hold to the next
				time.Sleep(150 * time.Millisecond) // in a bubble
				a := c.ask("acme", true, least(c.lead))
				if floored = floored || a.code == "priority_floor"; floored {
					c.showed("shedding")
				}
				if floored && a.code != "priority_floor" {
					c.t.Errorf("%s is answered %q, though the floor is above it", a.id, a.code)
				}
				if a.code == "priority_floor" && a.head.Get("Retry-After") == "" && !c.has("floor") {
					c.t.Errorf("%s: %s without a time", a.id, a.code)
				}
			}
		},
		may: []string{"queue_full", "priority_floor"},
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

// hangUp asks for a stream, leaves it after four tokens, and asks for the same again.
func (c *cell) hangUp(tenant string) {
	left := c.ask(tenant, true, func(q *question) {
		if q.headers["Idempotency-Key"] != "" {
			q.headers["Idempotency-Key"] = "left"
		}
		q.leaves = 4
		q.mayIf(c.has("streams"), "quota_exceeded")
	})
	if !left.left {
		return
	}
	time.Sleep(2 * step) // in a bubble
	again := *left.question
	again.leaves, again.id, again.raw = 0, left.id+"-again", left.body()
	c.send(&again)
}

package pairs

import (
	"strings"
	"time"
)

// replicaHeader names the one replica that is to answer.
const replicaHeader = "X-Octet-Replica"

// directFeatures are what a tenant that may name the replica says: acme may, rival may not. Its requests alternate
// between the lead's replicas. A specialist that both may use is the lead's fallback, so that its copies go there.
var directFeatures = []*feature{{
	name: "direct", sets: []string{"auth.tenants[0].may_direct=true"},
	world: strings.NewReplacer("    profile: cache-aware\n    fallback: beta\n",
		"    profile: cache-aware\n    fallback: gamma\n"),
	shape: func(c *cell, q *question) {
		if q.tenant == "acme" {
			q.headers[replicaHeader] = c.nextName()
			c.mayEndAt(q)
		}
	},
	midway: func(c *cell) { c.refuseName() },
	after: func(c *cell) {
		c.refuseName()
		for name, code := range map[string]string{
			"beta-0": "permission_denied", "alpha-9": "model_not_found", specialists[c.other()][1]: "model_not_found",
		} {
			a := c.ask("acme", true, func(q *question) {
				delete(q.headers, "Idempotency-Key")
				delete(q.headers, adapterHeader) // not all have it
				q.model, q.headers[replicaHeader], q.must = c.lead, name, code
				if name == "beta-0" {
					q.model = "octet"
				}
			})
			c.unasked(a)
		}
	},
	audit: auditDirect,
	seen: func(a *answer) bool {
		return a.done && a.receipt != nil && a.receipt.Asked.Replica != ""
	},
}}

// nextName is the replica that acme names next: the lead's in turn, and where another stands in the demoted one's.
func (c *cell) nextName() string {
	if c.has("stand-in") {
		return "delta-0"
	}
	names := c.answering()
	return names[int(c.turns.Add(1))%len(names)]
}

// mayEndAt adds the codes of a request that has one replica, by what the other feature does to replicas.
func (c *cell) mayEndAt(q *question) {
	for feature, code := range map[string]string{
		"takeover": "upstream_reset", "retry": "upstream_reset", "failed takeover": "breaker_open",
		"drain": "no_healthy_replica", "withdrawal": "no_healthy_replica", "stand-in": "breaker_open",
		"uneven": "context_length_exceeded",
	} {
		q.mayIf(c.has(feature), code)
	}
}

// other is a specialist that acme may use, and not the lead.
func (c *cell) other() string {
	if c.lead == "gamma" {
		return "alpha"
	}
	return "gamma"
}

// refuseName has rival, which may not name a replica, name one.
func (c *cell) refuseName() {
	c.unasked(c.ask("rival", true, func(q *question) {
		delete(q.headers, "Idempotency-Key")
		q.headers[replicaHeader], q.must = c.answering()[0], "permission_denied"
	}))
}

// unasked holds a request that is refused to have reached no engine.
func (c *cell) unasked(a *answer) {
	time.Sleep(step) // in a bubble
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.heard {
		if h.id == a.id {
			c.t.Errorf("%s ends in %s, and %s is sent it", a.id, a.code, h.engine)
		}
	}
}

// auditDirect holds a request to the replica that it names: that one answers, or it ends in an error. Its copies, and
// the legs before the answer, go where they would without the name. A request that names none is routed by its text.
func auditDirect(c *cell, a *answer) {
	name := a.headers[replicaHeader]
	if a.receipt == nil {
		return
	}
	if got := a.receipt.Asked.Replica; got != name {
		c.t.Errorf("%s names %q; its receipt has %q", a.id, name, got)
	}
	by := a.receipt.Decision.RoutedBy
	if name == "" {
		if by == "model" && a.model == "octet" {
			c.t.Errorf("%s names no replica and no model, and is routed by its model", a.id)
		}
		return
	}
	if sp := a.specialist(); by != "model" || a.done && sp != ofReplica(name) {
		c.t.Errorf("%s names %s; routed by %s, answered by %s", a.id, name, by, sp)
	}
	for _, at := range a.receipt.Attempts {
		if prefills := at.Replica == "gamma-p"; at.Replica != name && !(prefills && name == "gamma-d") {
			c.t.Errorf("%s names %s and is sent to %s", a.id, name, at.Replica)
		}
	}
	copied := a.receipt.Decision.Shadow
	without := copied == c.lead && c.has("adapter rotation") && a.receipt.Decision.Probation // to compare the adapter
	if copied != "" && copied != c.other() && !without {
		c.t.Errorf("%s names %s, and its copy is with %s", a.id, name, copied)
	}
	if c.has("probation") && a.done && copied == "" {
		c.t.Errorf("%s names %s, which is on probation, and no copy is sent", a.id, name)
	}
	if c.has("leg") && a.done && len(a.receipt.Attempts) < 2 {
		c.t.Errorf("%s names %s, and no other prefills for it", a.id, name)
	}
}

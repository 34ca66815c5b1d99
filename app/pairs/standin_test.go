package pairs

import (
	"strings"
	"time"

	"octet/slo"
)

// standInFeatures have the lead stand in for delta, which is demoted, and which has an adapter more than the lead.
var standInFeatures = []*feature{{
	name: "stand-in", extra: "delta", world: withDelta, sets: []string{"specialists[3].fallback=NAME"},
	shape: func(_ *cell, q *question) { q.model = "delta:gdb-v2" },
	before: func(c *cell) {
		board := c.App.Server().Runtime().Specialist("delta").Board
		for !board.Breaker().Demoted() {
			board.Outcome(slo.Verdict{Answered: time.Now(), Pass: false})
		}
	},
	midway: (*cell).refuseAdapter,
	after:  (*cell).refuseAdapter,
	audit: func(c *cell, a *answer) {
		by, with := a.specialist(), a.head.Get("X-Adapter")
		if a.done && a.model == "delta:gdb-v2" && (by != c.lead || with != "gdb-v2") {
			c.t.Errorf("%s asks for %s and is answered by %s with %q", a.id, a.model, by, with)
		}
	},
	seen: func(a *answer) bool { return a.done && a.receipt != nil && a.receipt.Decision.Demoted == "delta" },
}}

// lastLine is the end of the world, which has delta behind it in some cells.
const lastLine = "role: decode, forward_priority: true}\n"

var withDelta = strings.NewReplacer("specialists: [alpha, gamma]", "specialists: [delta, alpha, gamma]",
	lastLine, lastLine+`
  - name: delta
    tokenizer: builtin
    profile: cache-aware
    adapters: [{name: gdb-v2}, {name: core-v1}]
    slo: {correctness: {floor: 0.9, min_samples: 4, recover_for: 1h}}
    replicas:
      - {name: delta-0, url: "http://delta-0", engine: vllm, blocks: 512, forward_priority: true}
`)

// refuseAdapter asks for the adapter that the lead has not: it does not stand in for that.
func (c *cell) refuseAdapter() {
	c.unasked(c.ask("rival", true, func(q *question) {
		delete(q.headers, "Idempotency-Key")
		q.model, q.must = "delta:core-v1", "breaker_open"
	}))
}

package pairs

import "strings"

// shortContext is what replicas take that take less, in tokens.
const shortContext = 400

// unevenFeatures have replicas that take less than the others of their specialist: every other question is too long for
// them.
var unevenFeatures = []*feature{{
	name: "uneven", short: shortContext,
	shape: func(c *cell, q *question) {
		if c.counter%2 == 0 {
			q.opening += strings.Repeat("at length ", 200)
		}
	},
	audit: func(c *cell, a *answer) {
		if a.receipt == nil || a.receipt.Asked.Replica != "" || a.receipt.Prompt.Tokens+a.tokens <= shortContext {
			return
		}
		for _, at := range a.receipt.Attempts {
			if isShort(at.Replica) && at.Outcome != "not_tried" {
				c.t.Errorf("%s: %d tokens at %s: %s", a.id, a.receipt.Prompt.Tokens, at.Replica, at.Outcome)
			}
		}
	},
	seen: func(a *answer) bool { return a.done && a.receipt != nil && a.receipt.Prompt.Tokens > shortContext },
}}

// isShort returns true if a replica is one of those that take less where replicas are uneven.
func isShort(replica string) bool { return replica == "alpha-0" || replica == "beta-0" }

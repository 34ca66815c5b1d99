package pairs

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"octet/gateway/receipt"
)

// weightFeatures change what the lead's engines serve, while the configuration stays.
var weightFeatures = []*feature{
	{
		name: "revision", sets: []string{"fleet.revision_interval=50ms"},
		before: func(c *cell) {
			c.serveNewWeights(specialists[c.lead]...)
			c.updated = time.Now()
		},
		after: func(c *cell) { // whatever was reloaded meanwhile, one probation is under way: of these weights
			if at := c.answering()[0]; c.Replica(at).Revision() != newWeights {
				c.t.Errorf("%s is known to serve %q", at, c.Replica(at).Revision())
			}
		},
		audit: auditWeights,
		seen: func(a *answer) bool {
			return a.receipt != nil && strings.HasSuffix(a.receipt.Decision.Rule, "is on probation") ||
				a.head.Get("X-Shadow") != ""
		},
	},
	{ // one engine serves other weights from the start, the others from when streams are open
		name: "rollout", sets: []string{"fleet.revision_interval=50ms", "fleet.probe_interval=50ms"},
		before: func(c *cell) {
			c.serveNewWeights(c.answering()[len(c.answering())-1])
			c.updated = time.Now()
		},
		midway: func(c *cell) { c.serveNewWeights(specialists[c.lead]...) },
		audit:  auditParts,
		seen:   func(a *answer) bool { return a.receipt != nil && a.parts() == newWeights },
	},
}

// newWeights are what the lead's engines serve under "revision".
const newWeights = "/models/the-next"

// serveNewWeights has engines of the lead serve other weights, in place, whatever they run.
func (c *cell) serveNewWeights(engines ...string) {
	for _, name := range engines {
		if c.renewed[name].IsZero() {
			c.renewed[name] = time.Now()
		}
		c.control(http.MethodPost, "http://"+name+"/update_weights_from_disk", `{"model_path":"`+newWeights+`"}`)
	}
	c.until("the new weights are known", func() bool {
		return !slices.ContainsFunc(engines, func(name string) bool { return c.Replica(name).Revision() != newWeights })
	})
}

// parts is the revision that has given all of an answer, as its receipt tells of the turns; receipt.Mixed if none has.
func (a *answer) parts() string {
	all := map[string]bool{}
	for i, at := range a.receipt.Attempts {
		part := i == len(a.receipt.Attempts)-1 || a.receipt.Result.Continued > 0 || at.Outcome == receipt.OK
		if part && at.Specialist == a.receipt.Result.Specialist {
			all[at.Revision] = true
		}
	}
	if len(all) != 1 {
		return receipt.Mixed
	}
	for revision := range all {
		return revision
	}
	return ""
}

// auditParts holds an answer that counts as the new weights' to have had none of its tokens before its engine had them.
func auditParts(c *cell, a *answer) {
	if !a.done || a.receipt == nil || a.specialist() != c.lead || a.receipt.Revision() != newWeights || a.first == 0 {
		return
	}
	at := a.receipt.Attempts[len(a.receipt.Attempts)-1].Replica
	if since := c.renewed[at]; a.at.Add(a.first).Before(since) {
		c.t.Errorf("%s has its first token %v before %s has other weights, and counts as theirs: %+v", a.id,
			since.Sub(a.at.Add(a.first)), at, a.receipt.Attempts)
	}
}

// auditWeights holds receipts to name the weights that answered, and what is asked without a replica's name to be known
// as on probation: an engine said so, and nothing else did.
func auditWeights(c *cell, a *answer) {
	if !a.done || a.receipt == nil || a.specialist() != c.lead || a.at.Before(c.updated) {
		return // or it began under the weights from before
	}
	at := a.receipt.Attempts[len(a.receipt.Attempts)-1]
	if want := c.weightsOf(at.Replica); at.Revision != want {
		c.t.Errorf("%s is answered by %s, of revision %q, not %q", a.id, at.Replica, at.Revision, want)
	}
	if a.receipt.Decision.Specialist == c.lead && !a.receipt.Decision.Probation && a.model == "octet" {
		c.t.Errorf("%s is not known to be on probation: %+v", a.id, a.receipt.Decision)
	}
}

// weightsOf is what a replica serves under "revision": one that was found has come with the weights from before.
func (c *cell) weightsOf(replica string) string {
	if strings.HasSuffix(replica, found) {
		return c.lead
	}
	return newWeights
}

// judgedAnew returns true if verdicts on an answer count: it was asked for since the newest weights are known, which
// have given all of it.
func (c *cell) judgedAnew(a *answer) bool {
	adapted := a.receipt != nil && a.head.Get(adapterHeader) != ""
	if adapted && a.receipt.Decision.Probation && c.has("adapter rotation") {
		return false // the adapter is judged by itself
	}
	return !c.has("revision") && !c.has("rollout") || a.receipt == nil || a.specialist() != c.lead ||
		!a.at.Before(c.updated) && a.parts() == newWeights
}

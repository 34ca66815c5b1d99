package pairs

import (
	"net/http"
	"strings"
	"time"
)

// weightFeatures change what the lead's engines serve, while the configuration stays.
var weightFeatures = []*feature{
	{
		name: "revision", sets: []string{"fleet.revision_interval=50ms"},
		before: (*cell).serveNewWeights,
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
}

// newWeights are what the lead's engines serve under "revision".
const newWeights = "/models/the-next"

// serveNewWeights has each engine of the lead serve other weights, in place.
func (c *cell) serveNewWeights() {
	for _, name := range specialists[c.lead] {
		c.control(http.MethodPost, "http://"+name+"/update_weights_from_disk", `{"model_path":"`+newWeights+`"}`)
	}
	c.until("the new weights are known", func() bool {
		for _, name := range specialists[c.lead] {
			if c.Replica(name).Revision() != newWeights {
				return false
			}
		}
		return true
	})
	c.updated = time.Now()
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
	return !c.has("revision") || a.receipt == nil || a.specialist() != c.lead ||
		!a.at.Before(c.updated) && a.receipt.Revision() == newWeights
}

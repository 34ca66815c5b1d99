package pairs

import (
	"fmt"
	"slices"
	"strings"
)

// feature is one side of a pair. Its hooks run in the order of the script, see run.
type feature struct {
	name    string
	sets    []string          // keys of the configuration; LEAD is the specialist that is asked, NAME its name
	world   *strings.Replacer // of the configuration's text; nil leaves it
	lead    string            // the specialist that is asked; "" leaves it
	doors   []string          // that engines serve
	bare    bool              // engines begin without adapters
	short   int               // tokens that the first replicas of alpha and beta take; 0 is as many as the others
	extra   string            // a specialist that its cells have beside the others; "" if there is none
	may     []string          // codes in which questions may end because of it
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
		q.model, q.tokens, q.opening, q.session = model, tokens, q.id+" takes a place ", ""
		q.headers = map[string]string{"X-Priority": fmt.Sprint(priority)}
		q.may = append(q.may, "queue_full", "kv_exhausted", "deadline_unachievable", "no_healthy_replica",
			"upstream_reset", "breaker_open", "priority_floor")
	}
}

// least is named with the lowest priority.
func least(model string) func(*question) {
	return func(q *question) {
		named(model, -50, 4)(q)
		q.may = append(q.may, "quota_exceeded", "idempotency_conflict")
	}
}

// answering are the replicas of the lead that send answers.
func (c *cell) answering() []string {
	if c.lead == "gamma" {
		return []string{"gamma-d"}
	}
	return specialists[c.lead]
}

// all are the features of the table.
func all() []*feature {
	return slices.Concat(tenantFeatures, standInFeatures, routeFeatures, lifeFeatures, directFeatures, doorFeatures,
		shadowFeatures, fleetFeatures, weightFeatures, adapterFeatures, completionFeatures, unevenFeatures)
}

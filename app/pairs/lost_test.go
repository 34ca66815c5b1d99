package pairs

import (
	"net/http"
	"strings"
	"time"
)

// lost is the end of the ids of what is asked after cache events were lost.
const lost = "-lost"

// loseEvents loses the events of the lead's engines for a while, in which their caches are emptied and filled. What is
// asked afterwards is foretold no token that its engine has not, though what was told before stands no more, and what
// follows is behind blocks that were never told. An empty cache that is told ends the doubt.
func (c *cell) loseEvents() {
	same := func(q *question) {
		q.opening = strings.Repeat("all ask the same at first ", 12)
		delete(q.headers, "Idempotency-Key")
	}
	ask := func(mark string) {
		c.marked(mark, false, nil, same)
		time.Sleep(2 * step) // in a bubble: events come
	}
	empty := func() {
		c.untilQuiet()
		for _, name := range specialists[c.lead] {
			c.control(http.MethodPost, "http://"+name+"/reset_prefix_cache", "")
		}
	}
	ask("-before")
	c.losing.Store(true)
	empty()
	ask("-meanwhile")
	c.losing.Store(false)
	ask("-again") // its events show that some are lost
	ask(lost)
	empty()
	time.Sleep(2 * step) // in a bubble
	ask(lost)
	for _, name := range c.answering() {
		rep := c.Replica(name)
		if stale := c.App.Fabric().Index().Stale(); stale.Has(rep.Host) {
			c.t.Errorf("what %s holds is in doubt, though it said that it was empty", name)
		}
	}
}

// auditForetold holds the tokens that were foretold to be in the cache to those that were.
func auditForetold(c *cell, a *answer) {
	if !strings.HasSuffix(a.id, lost) || !a.done || a.door != "" || a.specialist() != c.lead || c.lead == "gamma" {
		return
	}
	if told, had := a.foretold(), a.usage.Details.Tokens; told > had {
		c.t.Errorf("%s is foretold %d cached tokens, and its engine had %d", a.id, told, had)
	}
	c.showed("lost events")
}

package pairs

import (
	"fmt"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"octet/gateway/receipt"
)

type attempt = receipt.Attempt

// mayIf lets a question end in a code.
func (q *question) mayIf(is bool, code string) {
	if is {
		q.may = append(q.may, code)
	}
}

// lead0 is the path of a key of the lead.
func (c *cell) lead0(key string) string { return fmt.Sprint("specialists[", c.at(), "].", key) }

// beside runs f in a goroutine that the script waits for.
func (c *cell) beside(f func()) { c.others.Go(f) }

// hold has every replica of a specialist that answers say so many tokens, for rival.
func (c *cell) hold(specialist string, tokens int) {
	n := 2
	if specialist == "gamma" {
		n = 1
	}
	for range n {
		c.beside(func() { c.ask("rival", true, named(specialist, 10, tokens)) })
		time.Sleep(step)
	}
	time.Sleep(5 * step)
}

// hopeless asks in vain: every replica is taken, and answers take longer than the deadline. A Gate that is told the
// deadline refuses at once.
func (c *cell) hopeless(feature, header, ms string) {
	for _, tokens := range []int{16, 200} { // the first have every Gate measure
		time.Sleep(time.Second)
		for _, specialist := range names {
			c.hold(specialist, tokens)
		}
	}
	soon := 5 * time.Millisecond // a leg before it may have run
	if limit, _ := time.ParseDuration(ms + "ms"); c.has("outside") {
		soon = min(away, limit/2) + 2*time.Millisecond
	}
	for _, tenant := range []string{"acme", "rival"} {
		a := c.ask(tenant, true, func(q *question) {
			q.headers[header], q.must = ms, "deadline_unachievable"
		})
		switch {
		case a.code == "deadline_unachievable" && a.ended < soon:
			c.showed(feature)
		case (a.code == "queue_full" || a.code == "priority_floor") && slices.Contains(a.may, a.code):
		default:
			c.t.Errorf("%s: %q after %v where no replica can be in time", a.id, a.code, a.ended)
		}
	}
}

// forgetHeard drops what engines were sent and what was asked so far, by other rules.
func (c *cell) forgetHeard() {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.early, c.asked, c.heard = append(c.early, c.asked...), nil, nil
}

// run asks the questions of a cell.
func (c *cell) run() {
	each := func(hook func(*feature) func(*cell)) {
		for _, f := range c.features {
			if h := hook(f); h != nil {
				h(c)
			}
		}
	}
	both := func(stream bool, midway func(), changes ...func(*question)) {
		var asking sync.WaitGroup
		c.round.Add(1)
		for _, tenant := range []string{"acme", "rival"} {
			asking.Go(func() { c.ask(tenant, stream, changes...) })
			time.Sleep(time.Millisecond) // in this order
		}
		if midway != nil {
			time.Sleep(8 * step)
			midway()
		}
		asking.Wait()
	}
	each(func(f *feature) func(*cell) { return f.before })
	both(true, func() { each(func(f *feature) func(*cell) { return f.midway }) })
	both(false, nil)
	c.round.Add(1)
	each(func(f *feature) func(*cell) { return f.between })
	third := func(q *question) { // a second choice that both may use
		if q.second = "gamma"; q.lead == "gamma" {
			q.second = "alpha"
		}
	}
	both(true, nil, third)
	c.round.Add(1)
	each(func(f *feature) func(*cell) { return f.after })
	c.others.Wait()
	time.Sleep(5 * time.Second) // shadows end, engines are probed again
	synctest.Wait()
}

// judge gives a verdict as a tenant.
func (c *cell) judge(tenant, receipt, kind string) (status int, counted bool) {
	c.t.Helper()
	return c.post(tenant, "/v1/outcomes", fmt.Sprintf(`{"receipt":%q,"kind":%q,"pass":true}`, receipt, kind))
}

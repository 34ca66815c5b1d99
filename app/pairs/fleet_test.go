package pairs

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"octet/routing/fleet"
)

// fleetFeatures change the lead's replicas while it serves, after the first answers: one is found and leaves, all of
// them sleep, and cache events are lost. Each puts things back before the next questions.
var fleetFeatures = []*feature{
	{
		name: "discovery", sets: []string{"LEAD.discover.template.engine=vllm", "fleet.discovery.settle=10ms"},
		between: (*cell).findAnother, audit: auditFound,
	},
	{
		name: "sleepers", sets: []string{"LEAD.sleep.hold=3s"},
		between: (*cell).sleep, audit: auditHeld,
		seen: func(a *answer) bool { return a.done && a.receipt != nil && a.receipt.Result.Woke },
	},
	{
		name: "lost events", between: (*cell).loseEvents, audit: auditForetold,
	},
}

// marked asks as both tenants at once, with a mark at the end of the ids, and does more meanwhile. No replica is named.
func (c *cell) marked(mark string, stream bool, meanwhile func(), changes ...func(*question)) (all [2]*answer) {
	var asking sync.WaitGroup
	for i, tenant := range []string{"acme", "rival"} {
		asking.Go(func() {
			all[i] = c.ask(tenant, stream, append([]func(*question){func(q *question) {
				q.id += mark
				delete(q.headers, replicaHeader)
			}}, changes...)...)
		})
		time.Sleep(time.Millisecond) // in this order
	}
	if meanwhile != nil {
		meanwhile()
	}
	asking.Wait()
	return all
}

// until waits for what is to be within two seconds.
func (c *cell) until(what string, is func() bool) {
	c.t.Helper()
	for range 100 {
		if synctest.Wait(); is() {
			return
		}
		time.Sleep(20 * time.Millisecond) // in a bubble
	}
	c.t.Errorf("it is not so within two seconds that %s", what)
}

// untilQuiet waits for all that was asked to end: a queue that another feature has filled takes some seconds.
func (c *cell) untilQuiet() {
	c.t.Helper()
	for range 1000 {
		if synctest.Wait(); c.Quiet() {
			return
		}
		time.Sleep(20 * time.Millisecond) // in a bubble
	}
	c.t.Error("something runs for ever")
}

// drainOf has an operator take replicas out of rotation, or back.
func (c *cell) drainOf(method string, replicas ...string) {
	for _, name := range replicas {
		c.control(method, "http://admin/admin/drain/"+name, "{}")
	}
}

// found is the id of what a replica that was found is asked; it is the end of the replica's name, too.
const found = "-found"

// present returns the replica of a name in force; nil if there is none.
func (c *cell) present(name string) *fleet.Replica {
	for _, rep := range c.replicas() {
		if rep.Name == name {
			return rep.Fleet
		}
	}
	return nil
}

// findAnother registers a replica for a second. It alone takes what is asked then; when its time has passed it takes no
// more, what it has goes on, and it is kept for a while.
func (c *cell) findAnother() {
	name, listed := c.lead+found, c.answering()
	c.Start(engineOf(name, c.lead, doorsOf(c.features), loadedOf(c.features)))
	role := ""
	if c.lead == "gamma" {
		role = `"role":"decode",`
	}
	c.control(http.MethodPost, "http://admin/admin/replicas", fmt.Sprintf(
		`{"specialist":%q,"name":%q,"url":"http://%s",%s"blocks":512,"forward_priority":true,"ttl":"1s"}`,
		c.lead, name, name, role))
	c.until(name+" serves", func() bool { return c.present(name) != nil && c.present(name).Available() })
	c.believe()
	time.Sleep(700 * time.Millisecond) // in a bubble: its time ends while it is asked
	c.drainOf(http.MethodPost, listed...)
	long := func(q *question) { q.tokens = 60 }
	c.marked(found, true, func() {
		time.Sleep(10 * step) // in a bubble
		c.drainOf(http.MethodDelete, listed...)
		c.until(name+" has left", func() bool { return c.present(name) == nil || c.present(name).Withdrawn() })
		late := c.ask("rival", true, named(c.lead, 10, 4))
		if c.sent(name, late.id) {
			c.t.Errorf("%s is found no more and is sent %s", name, late.id)
		}
	}, long)
	if at := c.present(name); at == nil || !at.Left() {
		c.t.Errorf("%s is not kept: %v", name, at)
	}
}

// auditFound holds what was asked while one replica served to have stayed there, though that left meanwhile.
func auditFound(c *cell, a *answer) {
	if !strings.HasSuffix(a.id, found) || a.receipt == nil || !a.done || a.specialist() != c.lead {
		return
	}
	n := len(a.receipt.Attempts)
	if at := a.receipt.Attempts[n-1].Replica; at != c.lead+found || a.receipt.Result.Continued > 0 {
		c.t.Errorf("%s ends at %s, continued %d times", a.id, at, a.receipt.Result.Continued)
	}
	c.showed("discovery")
}

// held is the end of the ids of what is asked while the lead sleeps.
const held = "-held"

// loading is how long an engine takes to wake.
const loading = 300 * time.Millisecond

// sleep has all of the lead's replicas sleep, of which an operator drains one, and asks. Clients leave meanwhile.
func (c *cell) sleep() {
	all, off := specialists[c.lead], []string(nil)
	if c.lead != "gamma" {
		off = all[:1]
	}
	c.untilQuiet()
	for _, name := range all {
		c.control(http.MethodPost, "http://"+name+"/sleep?level=1", "")
	}
	c.until("all sleep", func() bool {
		return !slices.ContainsFunc(all, func(name string) bool { return c.present(name).Said() != fleet.Asleep })
	})
	c.drainOf(http.MethodPost, off...)
	var leaving sync.WaitGroup
	c.marked(held, true, func() {
		for i := range 5 {
			leaving.Go(func() { c.leave(fmt.Sprint(left, i)) })
		}
		time.Sleep(loading / 2) // in a bubble
		if c.has("reload") {
			c.reload(c.lead0("scheduler.aging=3s"))
		}
		leaving.Wait()
	})
	c.drainOf(http.MethodDelete, off...)
	for _, name := range all {
		n := c.Engines[name].Woken.Swap(0)
		if n > 1 || n > 0 && slices.Contains(off, name) {
			c.t.Errorf("%s is woken %d times", name, n)
		}
		c.control(http.MethodPost, "http://"+name+"/wake_up", "")
		c.Engines[name].Woken.Store(0)
	}
	c.until("all are awake", func() bool {
		return !slices.ContainsFunc(all, func(name string) bool { return !c.present(name).Available() })
	})
}

// left is the beginning of the ids of requests whose clients leave while the lead sleeps.
const left = "left-"

// leave asks for the lead, and leaves before it is awake. None of its engines is sent that, see auditHeard; probation
// may have another answer.
func (c *cell) leave(id string) {
	ctx, leave := context.WithTimeout(context.Background(), loading/4)
	defer leave()
	q := c.question("rival", false)
	named(c.lead, 0, 4)(q)
	resp, err := c.Ask(ctx, http.MethodPost, "http://data/v1/chat/completions",
		fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hello"}]}`, c.lead),
		"Authorization", "Bearer rival", "X-Request-Id", id)
	if err == nil {
		resp.Body.Close()
	}
}

// auditHeld holds what was asked while the lead slept to say so, and to find nothing in the cache.
func auditHeld(c *cell, a *answer) {
	if !strings.HasSuffix(a.id, held) || a.receipt == nil || !a.done || a.specialist() != c.lead {
		return
	}
	if r := a.receipt.Result; !r.Woke || r.HeldMs <= 0 || r.HeldMs > 1500 {
		c.t.Errorf("%s: woke %v, held for %v ms", a.id, r.Woke, r.HeldMs)
	}
	if n := a.head.Get("X-Cached-Tokens"); n != "" && n != "0" {
		c.t.Errorf("%s is told of %s cached tokens of an engine that has slept", a.id, n)
	}
}

// auditHolds holds what holds requests to hold none.
func (c *cell) auditHolds() {
	for _, sp := range c.App.Server().Runtime().Specialists {
		if sp.Hold == nil {
			continue
		}
		if err := sp.Hold.Check(); err != nil || sp.Hold.Len()+sp.Hold.Passing() != 0 {
			c.t.Errorf("%s holds %d requests, %d are let out: %v", sp.Name, sp.Hold.Len(), sp.Hold.Passing(), err)
		}
	}
}

package pairs

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// adapterFeatures have the gateway load what engines begin without.
var adapterFeatures = []*feature{
	{ // each replica has room for one of two adapters: what is asked for and lies at the other one is loaded for it
		name: "adapter on demand", bare: true,
		world: loadable("1", `{name: sql-v1, path: /models/sql-v1, replicas: 1}`),
		shape: func(c *cell, q *question) {
			switch {
			case c.has("stand-in"):
			case q.tenant == "rival" && c.lead == "alpha":
				q.model = "alpha:sql-v1"
			default:
				q.model = c.lead + ":gdb-v2"
			}
		},
		audit: auditAdapter,
		seen:  func(a *answer) bool { return a.done && a.head.Get(adapterHeader) != "" },
	},
	{ // another path and version is in force while streams are open
		name: "adapter rotation", bare: true, world: loadable("2", ""),
		shape:   askForAdapter,
		midway:  (*cell).rotate,
		between: (*cell).awaitRotation,
		audit:   auditAdapter,
		seen: func(a *answer) bool {
			return a.done && a.receipt != nil && a.receipt.Decision.Version == "2" && a.receipt.Decision.Probation
		},
	},
	{ // engines unload what requests ask for, while streams are open and after them
		name: "lost adapter", bare: true, world: loadable("2", ""),
		shape:  askForAdapter,
		midway: (*cell).loseAdapter, between: (*cell).loseAdapter,
		audit: auditAdapter,
	},
}

// loseAdapter has the lead's engines unload the adapter by themselves.
func (c *cell) loseAdapter() {
	for _, name := range specialists[c.lead] {
		resp, err := c.Ask(context.Background(), http.MethodPost, "http://"+name+"/v1/unload_lora_adapter",
			`{"lora_name":"gdb-v2"}`)
		if err != nil {
			continue // it is down
		}
		if _ = resp.Body.Close(); resp.StatusCode == http.StatusOK { // it was loaded there
			c.showed("lost adapter")
		}
	}
}

// adapterHeader asks for an adapter of whatever specialist it is.
const adapterHeader = "X-Adapter"

// askForAdapter has a question ask for the adapter, unless its model says so. In a conversation with beta, which has no
// adapter, only acme does.
func askForAdapter(c *cell, q *question) {
	talks := c.has("stickiness") || c.has("tool loop") || c.has("session key")
	if !strings.Contains(q.model, ":") && !(talks && q.tenant == "rival") {
		q.headers[adapterHeader] = "gdb-v2"
	}
}

// loadable gives the lead's adapter a path, and slots for so many on a replica; alpha has more.
func loadable(slots, more string) *strings.Replacer {
	const bare, rules = "    adapters: [{name: gdb-v2}]\n", "    adapter_rules: {patience: 100ms, linger: 50ms, " +
		"retry_after: 100ms, swaps_per_minute: 6000}\n"
	list := "    adapters: [{name: gdb-v2, path: /models/gdb-v2, version: \"1\", replicas: 1}"
	with := list + "]\n    adapter_slots: " + slots + "\n" + rules
	if more != "" {
		more = list + ", " + more + "]\n    adapter_slots: " + slots + "\n" + rules
	} else {
		more = with
	}
	return strings.NewReplacer("    fallback: beta\n"+bare, "    fallback: beta\n"+more,
		"    fallback: gamma\n"+bare, "    fallback: gamma\n"+more, bare, with) // "direct" has another fallback
}

// loadedOf are the adapters that engines begin with.
func loadedOf(features []*feature) []string {
	if slices.ContainsFunc(features, func(f *feature) bool { return f.bare }) {
		return nil
	}
	return []string{"gdb-v2", "core-v1"}
}

// rotate has another edition of the lead's adapter declared.
func (c *cell) rotate() {
	c.sets = append(c.sets, c.lead0("adapters[0].path=/models/gdb-v3"), c.lead0("adapters[0].version=2"))
	c.reload()
}

// awaitRotation waits until requests go to the new edition.
func (c *cell) awaitRotation() {
	c.until("the new edition is in force", func() bool {
		return c.App.Server().Runtime().Specialist(c.lead).Versions["gdb-v2"] == "2"
	})
	c.believe()
	time.Sleep(time.Second) // in a bubble: the old edition goes
}

// rotated returns true if a name is that of another edition of an adapter, in a cell that has some.
func (c *cell) rotated(served, adapter string) bool {
	return c.has("adapter rotation") && strings.HasPrefix(served, adapter+".")
}

// auditAdapter holds an answer to the adapter that was asked for.
func auditAdapter(c *cell, a *answer) {
	_, asked, _ := strings.Cut(a.model, ":")
	asked += a.headers[adapterHeader]
	if with := a.head.Get(adapterHeader); a.done && with != asked {
		c.t.Errorf("%s asks for %s and is answered by %s with %q", a.id, a.model, a.specialist(), with)
	}
}

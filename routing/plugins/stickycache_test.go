package plugins_test

import (
	"strings"
	"testing"

	"octet/routing/fleet"
	"octet/routing/index"
)

// MOD3-25: the cache-aware preset and a session's stickiness are one composition: between replicas that hold the same
// the session stays where it was, though another has less load, and it moves where most of its prompt is.
func TestASessionStaysUntilItsPrefixIsElsewhere(t *testing.T) {
	w := newWorld(t, 3)
	p := w.preset("cache-aware-sticky")
	text := strings.Repeat("0123456789abcdef", 8)
	chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
	asked := prompt(text)
	asked.Session, asked.Tenant = "s", "acme"
	holding := func(depths ...int) {
		for h, n := range depths {
			w.holds[index.HostID(h)] = chain[:n]
		}
	}
	holding(0, 2, 0)
	if got := w.pick(p, asked)[0]; got != 1 {
		t.Fatalf("a new session went to %d, its prefix is at 1", got)
	}
	holding(2, 2, 2)
	w.load(1, fleet.Load{InFlight: 2})
	w.load(2, fleet.Load{InFlight: 4})
	if got := w.pick(p, asked)[0]; got != 1 {
		t.Errorf("all hold the same, and the session left 1 for %d", got)
	}
	holding(2, 2, 8)
	w.load(2, fleet.Load{InFlight: 1})
	if got := w.pick(p, asked)[0]; got != 2 {
		t.Errorf("all of the prompt is at 2, and the session is at %d", got)
	}
	holding(0, 0, 0)
	if got := w.pick(p, asked)[0]; got != 2 {
		t.Errorf("the session went to 2 and is at %d", got)
	}
}

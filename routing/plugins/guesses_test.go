package plugins_test

import (
	"strings"
	"testing"
	"time"

	"octet/routing"
	"octet/routing/approx"
	"octet/routing/fleet"
	"octet/routing/index"
)

func guesses(t testing.TB) *approx.Index {
	t.Helper()
	x, err := approx.New(approx.Config{TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func promptAt(text string, at time.Time) routing.Facts {
	f := prompt(text)
	f.Now = at
	return f
}

// A replica without events is judged by what was routed to it lately, one with events by those, and beyond them by what is on
// its way; a guess expires.
func TestWhatWasRoutedWhereStandsInForEvents(t *testing.T) {
	w := newWorld(t, 2)
	w.put(fleet.Spec{Host: 2})
	w.deps.Guesses = guesses(t)
	p := w.preset("cache-aware")
	text, start := strings.Repeat("0123456789abcdef", 4), time.Unix(100, 0)
	first := w.pick(p, promptAt(text, start))[0]
	for h := range index.HostID(3) {
		if h != first {
			w.load(h, fleet.Load{})
		}
	}
	w.load(first, fleet.Load{InFlight: 1})
	if got := w.pick(p, promptAt(text, start.Add(time.Second)))[0]; got != first {
		t.Errorf("the same prompt goes to %d, then to %d", first, got)
	}
	if got := w.pick(p, promptAt(text, start.Add(5*time.Minute)))[0]; got == first {
		t.Error("a guess counts for five minutes")
	}
}

func TestADryDecisionIsNotRemembered(t *testing.T) {
	w := newWorld(t, 2)
	known := guesses(t)
	w.deps.Guesses = known
	f := promptAt(strings.Repeat("0123456789abcdef", 4), time.Unix(1, 0))
	f.Dry = true
	w.pick(w.preset("cache-aware"), f)
	if got := known.Stats().Blocks; got != 0 {
		t.Errorf("%d blocks of a request that never ran", got)
	}
}

// GAIE-24: with guesses off only the index counts; the approximate scorer knows only what was routed.
func TestPreciseAndApproximateKnowDifferentThings(t *testing.T) {
	w := newWorld(t, 3)
	w.deps.Guesses = guesses(t)
	text, now := strings.Repeat("0123456789abcdef", 4), time.Unix(100, 0)
	chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
	w.holds[0] = chain[:1]
	w.deps.Guesses.Routed(1, chain[:2], now)
	w.deps.Guesses.Routed(0, chain[:3], now)
	prepare := []routing.PluginSpec{{Name: "tokenize"}, {Name: "block-hashes"}, {Name: "prefix-depths", Params: map[string]any{"guess": false}}}
	facts := given{facts: promptAt(text, now)}
	facts.facts.Dry = true // none of these decisions is to be remembered
	if got := w.rated("precise-prefix-cache-scorer", nil, facts, prepare...); !near(got, []float64{0.25, 0, 0}) {
		t.Errorf("precise: %v", got)
	}
	if got := w.rated("approx-prefix", nil, facts, prepare[:2]...); !near(got, []float64{0.75, 0.5, 0}) {
		t.Errorf("approximate: %v", got)
	}
	prepare[2].Params = nil
	if got := w.rated("cache-affinity", nil, facts, prepare...); !near(got, []float64{0.75, 0.5, 0}) {
		t.Errorf("both: %v", got)
	}
}

package plugins_test

import (
	"strings"
	"testing"
	"time"

	"octet/routing"
	"octet/routing/approx"
)

func guesses(t testing.TB) *approx.Index {
	t.Helper()
	x, err := approx.New(approx.Config{TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// GAIE-24: the precise scorer follows the index, the approximate one what was routed where, until that expires.
//
//nolint:lll // raw text that cannot be broken
func TestPreciseAndApproximateKnowDifferentThings(t *testing.T) {
	w := newWorld(t, 3)
	known := guesses(t)
	w.deps.Guesses = known
	text, now := strings.Repeat("0123456789abcdef", 4), time.Unix(100, 0)
	chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
	w.holds[0] = chain[:1]
	known.Routed(1, chain[:2], now)
	known.Routed(0, chain[:3], now)
	prepare := []routing.PluginSpec{{Name: "tokenize"}, {Name: "block-hashes"}, {Name: "prefix-depths"}}
	asked := given{facts: prompt(text)}
	asked.facts.Now = now
	if got := w.rated("precise-prefix-cache-scorer", nil, asked, prepare...); !near(got, []float64{0.25, 0, 0}) {
		t.Errorf("precise: %v", got)
	}
	if got := w.rated("approx-prefix", nil, asked, prepare[:2]...); !near(got, []float64{0.75, 0.5, 0}) {
		t.Errorf("approximate: %v", got)
	}
	asked.facts.Now = now.Add(2 * time.Minute)
	if got := w.rated("approx-prefix", nil, asked, prepare[:2]...); !near(got, []float64{0, 0, 0}) {
		t.Errorf("two minutes later: %v", got)
	}
	if got := w.rated("approx-prefix", nil, given{facts: prompt("short")}, prepare[:2]...); !near(got, []float64{0, 0, 0}) {
		t.Errorf("a prompt without a full block: %v", got)
	}
}

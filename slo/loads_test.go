package slo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// MEGA-64: the intents that load a specialist are the fewest that make up nine tenths of what asked in the last ten to
// twenty seconds; where none asked, each is one.
func TestTheIntentsThatLoadASpecialistAreThoseThatAskMost(t *testing.T) {
	e, now := NewEscalation(EscalationConfig{}), newClock().at
	look := func(after time.Duration, want ...string) {
		t.Helper()
		now = now.Add(after)
		e.Observe(0, now)
		if got := e.Intents(); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	offer := func(intent string, n int) {
		for range n {
			e.Offer(intent, 0)
		}
	}
	look(0)
	if !e.Loads("review") {
		t.Error("nobody has asked: each may be one")
	}
	offer("codegen", 60)
	offer("review", 29)
	offer("debug", 6)
	offer("build-fix", 5)
	look(time.Second, "codegen", "debug", "review")
	if e.Loads("build-fix") || e.Loads("never seen") || !e.Loads("debug") {
		t.Errorf("%v", e.Intents())
	}
	offer("review", 4000)
	look(time.Second, "review")
	look(remember, "review")
	offer("build-fix", 1)
	look(0, "review")
	look(remember, "build-fix")
	look(3 * remember)
}

// The same, beside a list of everything that asked.
func TestWhoLoadsASpecialistAgreesWithAListOfAllThatAsked(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		e, now := NewEscalation(EscalationConfig{}), newClock().at
		e.Observe(0, now)
		asked := map[string]int{}
		for range 500 {
			intent := fmt.Sprint("i", min(r.IntN(6), r.IntN(6)))
			e.Offer(intent, 0)
			asked[intent]++
		}
		e.Observe(0, now)
		in, out, least, most := 0, 0, 1<<30, 0
		for intent, n := range asked {
			if e.Loads(intent) {
				in, least = in+n, min(least, n)
			} else {
				out, most = out+n, max(most, n)
			}
		}
		if in*10 < 9*(in+out) || least < most || (in-least)*10 >= 9*(in+out) {
			t.Errorf("seed %d: %v of %v", seed, e.Intents(), asked)
		}
	}
}

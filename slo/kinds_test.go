package slo

import (
	"testing"
	"time"
)

// MEGA-54: the rates of kinds look back over the same window as the rate of all answers, survive a restart, and are
// forgotten with the weights that they are of. A kind that has lost its name goes on among the others.
func TestRatesOfKindsOutliveARestartAndNoVersion(t *testing.T) {
	c := Config{Correctness: CorrectnessConfig{MinSamples: 3, Window: 24 * time.Hour,
		Kinds: []string{"compile", "test"}}}
	at := newClock()
	c.Now = at.now
	b := NewBoard(c)
	for i := range 4 {
		b.OutcomeOfKind(Verdict{Answered: at.now(), Pass: i > 0, Kind: "compile"})
		b.OutcomeOfKind(Verdict{Answered: at.now(), Pass: true, Kind: "test"})
	}
	b.OutcomeOfKind(Verdict{Answered: at.now(), Pass: true, Kind: "unheard of"})
	b.OverturnOfKind(Verdict{Answered: at.now(), Kind: "test", By: "rival"}, "")
	holds := func(when string, b *Board, want map[string]count) {
		t.Helper()
		got := b.Report().Correctness.Kinds
		if len(got) != len(want) {
			t.Errorf("%s: %+v", when, got)
		}
		for kind, n := range want {
			switch r := got[kind]; {
			case r.Samples != n.all, (r.Rate != nil) != (n.all >= 3), r.Rate != nil && *r.Rate != n.rate():
				t.Errorf("%s: %s is %+v, want %v", when, kind, r, n)
			}
		}
	}
	holds("at first", b, map[string]count{"compile": {3, 4}, "test": {3, 4}, "other": {1, 1}})
	c.Correctness.Kinds = []string{"compile"}
	again := NewBoard(c)
	if err := again.Breaker().Restore(b.Breaker().Save(at.now()), at.now()); err != nil {
		t.Fatal(err)
	}
	holds("after a restart", again, map[string]count{"compile": {3, 4}, "other": {4, 5}})
	at.advance(25 * time.Hour)
	holds("a day later", again, nil)
	b.OutcomeOfKind(Verdict{Answered: at.now(), Pass: true, Kind: "test"})
	before := at.now()
	at.advance(time.Second)
	b.Breaker().Refresh(at.now())
	b.OutcomeOfKind(Verdict{Answered: before, Pass: true, Kind: "test"}) // late: of other weights
	holds("another version", b, nil)
	bad := b.Breaker().Save(at.now())
	bad.Kinds = map[string][]Slot{"test": {{Pass: 2, All: 1}}}
	if b.Breaker().Restore(bad, at.now()) == nil {
		t.Error("two of one passed")
	}
}

package slo

import (
	"testing"
	"time"
)

// What is said to a Breaker counts once, and at its time, at the last that it was handed over to: what was said before
// and after, and however often it is handed on.
func TestABreakerThatIsHandedOverCountsAtItsHeir(t *testing.T) {
	c := CorrectnessConfig{Floor: 0.9, Window: 24 * time.Hour, MinSamples: 10, RecoverFor: time.Minute,
		Kinds: []string{CompileKind}, ProbeShare: 0.1}
	now := newClock().at
	first := newBreaker(c, now)
	last := first
	const times = 200
	say := func(pass bool) {
		v := Verdict{Answered: now, Pass: pass, Kind: CompileKind}
		first.Count(v, now)
		first.CountKind(v, now)
		now = now.Add(time.Second)
	}
	for range times {
		say(true)
		heir := newBreaker(c, now)
		last.HandOver(heir, now)
		last = heir
	}
	say(true)
	if n, kind := last.tally(now), last.rates(now)[CompileKind]; n != (count{times + 1, times + 1}) ||
		kind.Samples != times+1 {
		t.Errorf("of %d verdicts %+v count, and %d of their kind", times+1, n, kind.Samples)
	}
	first.Overturn(Verdict{Answered: now}, "", now)
	if n := last.tally(now); n != (count{times, times + 1}) {
		t.Errorf("with one that was overturned: %+v", n)
	}
	for last.Standing(now) == Primary && now.Sub(newClock().at) < time.Hour {
		say(false)
	}
	if last.Standing(now) != ShadowOnly {
		t.Error("failures that the first is told do not demote the last")
	}
	if n := last.tally(now.Add(c.Window)); n != (count{}) {
		t.Errorf("after the window: %+v", n)
	}
}

package slo

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

func votingBreaker(least int) (*Breaker, time.Time) {
	now := newClock().at
	return newBreaker(CorrectnessConfig{Floor: 0.6, Window: 24 * time.Hour, MinSamples: least, RecoverFor: time.Minute,
		ProbeShare: 1}, now), now
}

func give(l *Breaker, now time.Time, by string, pass bool, n int) {
	for range n {
		l.Count(Verdict{Answered: now, Pass: pass, By: by}, now)
	}
}

// However much one tenant says, it is half of a window in which others speak; the gateway's own judge is not bounded,
// and a tenant that is as good as alone is not either.
func TestNoTenantIsMoreThanHalfOfAWindow(t *testing.T) {
	for name, c := range map[string]struct {
		loud, others, own int
		want              count
	}{
		"alone":                     {loud: 100, want: count{0, 100}},
		"beside too few":            {loud: 100, others: 4, want: count{4, 104}},
		"beside enough":             {loud: 100, others: 5, want: count{5, 10}},
		"beside as many":            {loud: 100, others: 100, want: count{100, 200}},
		"beside our own judge":      {loud: 100, own: 20, want: count{20, 40}},
		"our own judge is the most": {loud: 10, own: 100, want: count{100, 110}},
	} {
		l, now := votingBreaker(10)
		give(l, now, "quiet", true, c.others)
		give(l, now, "", true, c.own)
		give(l, now, "loud", false, c.loud)
		if got := l.tally(now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A flood of failing verdicts demotes no specialist against others, and a few of them are not blown up by the bound
// either.
func TestADemotionHoldsWithAndWithoutTheBound(t *testing.T) {
	for name, c := range map[string]struct {
		loud, quiet bool // what they say
		many, few   int
		want        Duty
	}{
		"a flood against others":       {false, true, 1000, 200, Primary},
		"a few against a flood":        {true, false, 1000, 30, Primary},
		"a flood and others with it":   {false, false, 1000, 30, ShadowOnly},
		"one that is as good as alone": {false, true, 1000, 3, ShadowOnly},
	} {
		l, now := votingBreaker(10)
		l.floor = 0.45
		for n := range c.many {
			if n < c.few {
				give(l, now, "quiet", c.quiet, 1)
			}
			give(l, now, "loud", c.loud, 1)
			if name == "a flood against others" && n == 0 {
				give(l, now, "third", true, 20)
			}
		}
		if got := l.Standing(now); got != c.want {
			t.Errorf("%s: %v, want %v: %+v", name, got, c.want, l.State(now))
		}
	}
}

// An answer is one sample: a second kind that fails takes the pass back, whichever voter had given it, and is the
// failing voter's.
func TestAnOverturnedAnswerIsOneSample(t *testing.T) {
	l, now := votingBreaker(10)
	give(l, now, "", true, 3)
	l.Overturn(Verdict{Answered: now, By: "acme"}, "", now)
	if got := l.tally(now); got != (count{2, 3}) {
		t.Errorf("%v, want 2 of 3", got)
	}
	if got := l.rolling.by["acme"].sum(now); got != (count{0, 1}) {
		t.Errorf("acme's: %v", got)
	}
	later := now.Add(48 * time.Hour)
	l.Overturn(Verdict{Answered: now, By: "acme"}, "", later)
	if got := l.tally(later); got != (count{}) {
		t.Errorf("an answer that left the window: %v", got)
	}
}

func TestVotersOutliveARestart(t *testing.T) {
	l, now := votingBreaker(10)
	give(l, now, "quiet", true, 5)
	give(l, now, "loud", false, 50)
	text, err := json.Marshal(l.Save(now))
	if err != nil {
		t.Fatal(err)
	}
	var s Saved
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	again, _ := votingBreaker(10)
	if err := again.Restore(s, now); err != nil {
		t.Fatal(err)
	}
	if got := again.tally(now); got != l.tally(now) || got != (count{5, 10}) {
		t.Errorf("%v, was %v", got, l.tally(now))
	}
	if !slices.ContainsFunc(s.Rolling, func(s Slot) bool { return s.By == "loud" && s.All == 50 }) {
		t.Errorf("saved: %s", text)
	}
}

package slo

import (
	"encoding/json"
	"errors"
	"testing"
	"time"
)

// MEGA-54: the rolling rate and the standing survive a restart, and what grew old meanwhile does not.
func TestALaneIsItselfAfterARestart(t *testing.T) {
	c := CorrectnessConfig{Floor: 0.9, Window: 24 * time.Hour, MinSamples: 10, RecoverFor: time.Minute, ProbeShare: 0.1}
	now := newClock().at
	l := newBreaker(c, now)
	for range 30 {
		l.Count(Verdict{Answered: now, Pass: true}, now)
	}
	now = now.Add(20 * time.Hour)
	failed := 0
	for ; l.Standing(now) == Primary; failed++ {
		l.Count(Verdict{Answered: now, Pass: false}, now)
	}
	l.Count(Verdict{Answered: now, Pass: true}, now)
	text, err := json.Marshal(l.Save(now))
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Hour)
	var s Saved
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	again := newBreaker(c, now)
	if err := again.Restore(s, now); err != nil {
		t.Fatal(err)
	}
	was, is := l.State(now), again.State(now)
	was.Transitions = 0
	if is != was || again.tally(now) != l.tally(now) || is.Samples != 1 {
		t.Errorf("%+v %v, was %+v %v", is, again.tally(now), was, l.tally(now))
	}
	now = now.Add(3 * time.Hour)
	if got := again.tally(now); got != (count{1, failed + 1}) {
		t.Errorf("25 hours after the first verdicts: %v", got)
	}
	for range 10 {
		again.Count(Verdict{Answered: now, Pass: true}, now)
	}
	if now = now.Add(time.Minute); again.Standing(now) != Primary {
		t.Error("it cannot recover after a restart")
	}
}

func TestRestoreRefusesWhatNobodySaved(t *testing.T) {
	now := newClock().at
	l := newBreaker(CorrectnessConfig{Floor: 0.9, Window: time.Hour, MinSamples: 10, ProbeShare: 1}, now)
	for _, s := range []Saved{{}, {Standing: "gone"},
		{Standing: "primary", Rolling: []Slot{{At: now, Pass: 2, All: 1}}},
		{Standing: "primary", Evidence: []Slot{{At: now, Pass: -1, All: 1}}}} {
		if err := l.Restore(s, now); !errors.Is(err, ErrSaved) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if l.tally(now) != (count{}) {
		t.Error("something of them was taken over")
	}
}

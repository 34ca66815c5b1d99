package slo

import (
	"testing"
	"time"
)

// MEGA-67: a fresh lane stays so until its own verdicts show the floor that it owes; no history is not health.
func TestAFreshLaneIsOnProbationUntilItPasses(t *testing.T) {
	debug, adapted := Entrant{"debug", ""}, Entrant{"debug", "gdb"}
	now := time.Unix(1e9, 0)
	p := NewProbation(true)
	p.Declare(now, Term{debug, "v1", "", 3, 0}, Term{adapted, "a", "", 2, 0.3})
	if p.Fresh(debug) || p.Fresh(adapted) {
		t.Error("what a start finds counts as known")
	}
	now = now.Add(time.Hour)
	p.Declare(now, Term{debug, "v1", "", 3, 0}, Term{adapted, "b", "", 2, 0.3}, Term{Entrant{"new", ""}, "", "", 1, 0})
	if p.Fresh(debug) || !p.Fresh(adapted) || !p.Fresh(Entrant{"new", ""}) {
		t.Errorf("a rotation and a newcomer are fresh, others are not: %+v", p.Standings())
	}
	passed := Verdict{Answered: now, Pass: true}
	if p.Outcome(adapted, passed) || !p.Fresh(adapted) || !p.Outcome(adapted, passed) || p.Fresh(adapted) {
		t.Errorf("two passes of two show a floor of 0.3: %+v", p.Standings())
	}
	p.Declare(now, Term{debug, "v2", "", 3, 0}, Term{adapted, "b", "", 2, 0.3})
	if !p.Fresh(debug) || !p.Fresh(adapted) {
		t.Error("new weights make every adapter on them fresh")
	}
	p.Outcome(debug, Verdict{Answered: now, Pass: true})
	p.Declare(now.Add(time.Minute), Term{debug, "v2", "", 3, 0})
	if s := p.Standings()[0]; !s.Fresh || s.Judged != 1 || !s.Since.Equal(now) {
		t.Errorf("a reload that changes nothing forgot: %+v", s)
	}
	again := NewProbation(true, p.Standings()...)
	again.Declare(now, Term{debug, "v2", "", 3, 0}, Term{Entrant{"later", ""}, "", "", 1, 0})
	if !again.Fresh(debug) || !again.Fresh(Entrant{"later", ""}) {
		t.Errorf("after a restart: %+v", again.Standings())
	}
	if again.Declare(now, Term{debug, "v2", "", 1, 0}); again.Fresh(debug) {
		t.Error("it has as many verdicts as it needs by now")
	}
	if again.Outcome(Entrant{"undeclared", ""}, Verdict{Answered: now, Pass: true}) {
		t.Error("a lane that was never declared has no probation")
	}
}

// MEGA-67: probation ends by passing, not by count: at the least that the rate could be, as the breaker trips at the
// most.
func TestFailuresKeepALaneOnProbation(t *testing.T) {
	lane, now := Entrant{"debug", ""}, time.Unix(1e9, 0)
	begun := func(floor float64) *Probation {
		p := NewProbation(false)
		p.Declare(now, Term{lane, "2", "", 50, floor})
		return p
	}
	count := func(p *Probation, n int, pass bool) (ended bool) {
		for range n {
			ended = p.Outcome(lane, Verdict{Answered: now, Pass: pass})
		}
		return ended
	}
	p := begun(0.95)
	if count(p, 50, false); !p.Fresh(lane) {
		t.Fatalf("50 failures ended it: %+v", p.Standings())
	}
	if count(p, 949, true); !p.Fresh(lane) {
		t.Errorf("949 of 999 are above 0.95 by luck, if at all: %+v", p.Standings())
	}
	for passes := 949; p.Fresh(lane) && passes < 1500; passes++ {
		count(p, 1, true)
	}
	if s := p.Standings()[0]; s.Fresh || s.Low < 0.95 || s.Passed < 1250 || s.Passed > 1400 {
		t.Errorf("a lane that has become good: %+v", s)
	}
	p = begun(0.95)
	if count(p, 72, true) || !count(p, 1, true) {
		t.Errorf("73 passes show 0.95, 72 do not: %+v", p.Standings())
	}
	if p = begun(0); count(p, 49, false) || !count(p, 1, false) {
		t.Errorf("a lane that owes nothing passes when it was judged: %+v", p.Standings())
	}
	if p = begun(1); count(p, 49, true) || !count(p, 1, true) {
		t.Errorf("a floor of 1: %+v", p.Standings())
	}
	if p = begun(1); count(p, 1, false) || count(p, 1000, true) {
		t.Errorf("a floor of 1, and a failure: %+v", p.Standings())
	}
}

// MEGA-67: a verdict on an answer of the version before says nothing of the version that is on probation; a second
// verdict on one answer is no second sample.
func TestLateVerdictsAreOfTheVersionBefore(t *testing.T) {
	lane, now := Entrant{"debug", ""}, time.Unix(1e9, 0)
	p := NewProbation(false)
	p.Declare(now, Term{lane, "2", "", 2, 0.3})
	for range 9 {
		if p.Outcome(lane, Verdict{Answered: now.Add(-time.Millisecond), Pass: true}) {
			t.Fatal("answers of the version before ended it")
		}
	}
	p.Overturn(lane, Verdict{Answered: now}, "")
	p.Outcome(lane, Verdict{Answered: now, Pass: true})
	p.Overturn(lane, Verdict{Answered: now}, "")
	if s := p.Standings()[0]; s.Judged != 1 || s.Passed != 0 || !s.Fresh {
		t.Errorf("%+v", s)
	}
}

// MEGA-67: whether a first start's lanes are known is the file's to say. A restart that remembers knows better.
func TestAFirstStartIsSettledOnlyIfSaidSo(t *testing.T) {
	lane, now := Entrant{"debug", ""}, time.Unix(1e9, 0)
	for _, settled := range []bool{true, false} {
		p := NewProbation(settled)
		p.Declare(now, Term{lane, "1", "", 50, 0.95})
		if p.Fresh(lane) == settled {
			t.Errorf("settled %v: fresh %v", settled, p.Fresh(lane))
		}
		again := NewProbation(settled, p.Standings()...)
		again.Declare(now, Term{lane, "1", "", 50, 0.95}, Term{Entrant{"new", ""}, "1", "", 50, 0.95})
		if again.Fresh(lane) == settled || !again.Fresh(Entrant{"new", ""}) {
			t.Errorf("settled %v, after a restart: %+v", settled, again.Standings())
		}
	}
}

package slo

import "testing"

// MEGA-67: a fresh specialist stays so until its window fills with verdicts, good or bad; no history is not health.
func TestAFreshLaneIsOnProbationUntilItsWindowFills(t *testing.T) {
	debug, adapted := Entrant{"debug", ""}, Entrant{"debug", "gdb"}
	p := NewProbation()
	p.Declare(Term{debug, "v1", 3}, Term{adapted, "a", 2})
	if p.Fresh(debug) || p.Fresh(adapted) {
		t.Error("what a start finds counts as known")
	}
	p.Declare(Term{debug, "v1", 3}, Term{adapted, "b", 2}, Term{Entrant{"new", ""}, "", 1})
	if p.Fresh(debug) || !p.Fresh(adapted) || !p.Fresh(Entrant{"new", ""}) {
		t.Errorf("a rotation and a newcomer are fresh, others are not: %+v", p.Standings())
	}
	if p.Outcome(adapted, false) || !p.Fresh(adapted) || !p.Outcome(adapted, true) || p.Fresh(adapted) {
		t.Errorf("two verdicts fill a window of two: %+v", p.Standings())
	}
	p.Declare(Term{debug, "v2", 3}, Term{adapted, "b", 2})
	if !p.Fresh(debug) || !p.Fresh(adapted) {
		t.Error("new weights make every adapter on them fresh")
	}
	p.Outcome(debug, true)
	p.Declare(Term{debug, "v2", 3})
	if s := p.Standings()[0]; !s.Fresh || s.Judged != 1 {
		t.Errorf("a reload that changes nothing forgot: %+v", s)
	}
	again := NewProbation(p.Standings()...)
	again.Declare(Term{debug, "v2", 3}, Term{Entrant{"later", ""}, "", 1})
	if !again.Fresh(debug) || !again.Fresh(Entrant{"later", ""}) {
		t.Errorf("after a restart: %+v", again.Standings())
	}
	if again.Declare(Term{debug, "v2", 1}); again.Fresh(debug) {
		t.Error("it has as many verdicts as it needs by now")
	}
	if again.Outcome(Entrant{"nobody", ""}, true) {
		t.Error("a lane that nobody declared has no probation")
	}
}

package slo

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// serve has a replica each serve the revisions of debug, and returns whether another one is judged.
func serve(p *Probation, now time.Time, revisions ...string) bool {
	serving := map[string]int{}
	for _, r := range revisions {
		serving[r]++
	}
	_, another := p.Serve(now, "debug", serving)
	return another
}

func pass(at time.Time) Verdict { return Verdict{Answered: at, Pass: true} }
func fail(at time.Time) Verdict { return Verdict{Answered: at} }

// MEGA-67: another revision of the weights than before is judged by itself, with no verdict of the one before; the
// first that an engine tells is not another one. One that was judged before goes on where it was.
func TestAnotherRevisionIsJudgedByItself(t *testing.T) {
	lane, now := Entrant{"debug", ""}, time.Unix(1e9, 0)
	p := NewProbation(true)
	p.Declare(now, Term{lane, "1", "", 3, 0.3})
	if serve(p, now, "a") || p.Fresh(lane) {
		t.Fatal("what is told first is no other revision")
	}
	now = now.Add(time.Hour)
	if !serve(p, now, "b") || !p.Fresh(lane) || serve(p, now, "b", "a") || serve(p, now) {
		t.Fatalf("another revision: %+v", p.Standings())
	}
	of := func(v Verdict, revision string) Verdict {
		v.Revision = revision
		return v
	}
	for range 9 {
		p.Outcome(lane, pass(now.Add(-time.Millisecond))) // asked before
		p.Outcome(lane, of(pass(now), "a"))               // of a replica that serves the old weights still
	}
	if s := p.Standings()[0]; s.Judged != 0 || s.Revision != "b" {
		t.Errorf("verdicts on other weights: %+v", s)
	}
	p.Outcome(lane, of(fail(now), "b"))
	p.Outcome(lane, fail(now)) // where it is not known which weights answered
	p.Declare(now, Term{lane, "1", "", 3, 0.3})
	if s := p.Standings()[0]; s.Judged != 2 || !s.Fresh || s.Revision != "b" {
		t.Errorf("a reload that changes nothing: %+v", s)
	}
	text, _ := json.Marshal(p.Standings())
	var remembered []Trial
	if err := json.Unmarshal(text, &remembered); err != nil {
		t.Fatal(err)
	}
	again := NewProbation(true, remembered...)
	if serve(again, now, "b", "a") || !again.Fresh(lane) {
		t.Errorf("a restart within a rolling upgrade: %+v", again.Standings())
	}
	later := now.Add(time.Hour)
	if !serve(again, later, "a") || again.Fresh(lane) {
		t.Errorf("a roll back to what was known and good: %+v", again.Standings())
	}
	if !serve(again, later, "b") || !again.Fresh(lane) || again.Standings()[0].Judged != 2 {
		t.Errorf("the one on probation comes back: %+v", again.Standings())
	}
	again.Declare(later, Term{lane, "2", "", 3, 0.3})
	if s := again.Standings()[0]; !s.Fresh || s.Judged != 0 || len(s.Earlier) != 0 || s.Revision != "b" {
		t.Errorf("another version forgets what was before: %+v", s)
	}
	if kept, _ := json.Marshal(NewProbation(true, remembered...).Standings()); string(kept) != string(text) {
		t.Errorf("a restart changes what is remembered: %s", kept)
	}
}

// What serves is judged by what has not been shown yet: a new revision before all, then one on probation, then the one
// before. The order of replicas does not matter, and a start that finds several takes all for what the lane is.
func TestTheRevisionThatIsJudgedIsTheOneInDoubt(t *testing.T) {
	lane, now := Entrant{"debug", ""}, time.Unix(1e9, 0)
	for _, settled := range []bool{true, false} {
		p := NewProbation(settled)
		p.Declare(now, Term{lane, "", "", 1, 0})
		for i, step := range []struct {
			serving, judged string
			fresh           bool
		}{
			{"aab", "a", !settled}, {"abb", "a", !settled}, {"abc", "c", true}, {"aac", "c", true}, {"bcd", "d", true},
			{"bc", "c", true}, {"bb", "b", !settled}, {"bd", "d", true},
		} {
			now = now.Add(time.Second)
			var revisions []string
			for _, r := range step.serving {
				revisions = append(revisions, string(r))
			}
			serve(p, now, revisions...)
			if !settled && step.serving == "bd" {
				step.judged = "b" // both are in doubt: the one before goes on
			}
			if s := p.Standings()[0]; s.Revision != step.judged || p.Fresh(lane) != step.fresh {
				t.Errorf("settled %v, step %d, %s: %+v", settled, i, step.serving, s)
			}
		}
		p.Outcome(lane, pass(now)) // what is judged passes, and what is in doubt still is judged next
		if serve(p, now, "d", "b"); p.Fresh(lane) == settled {
			t.Errorf("settled %v, after d has passed: %+v", settled, p.Standings())
		}
	}
}

// The revisions that a lane remembers are bounded.
func TestFewEarlierRevisionsAreRemembered(t *testing.T) {
	p := NewProbation(true)
	p.Declare(time.Unix(1e9, 0), Term{Entrant{"debug", ""}, "1", "", 3, 0.3})
	for i := range 50 {
		serve(p, time.Unix(1e9, 0), fmt.Sprint("r", i))
	}
	s := p.Standings()[0]
	if len(s.Earlier) != keptEarlier || s.Revision != "r49" || s.Earlier[0].Revision != "r48" ||
		s.Earlier[3].Revision != "r45" || s.Earlier[0].Earlier != nil {
		t.Errorf("%+v", s)
	}
}

// MEGA-67: an adapter whose path is another is another adapter. It is judged from when its weights answer.
func TestAnAdaptersPathIsItsRevision(t *testing.T) {
	lane, now := Entrant{"debug", "gdb"}, time.Unix(1e9, 0)
	p := NewProbation(true)
	p.Declare(now, Term{Entrant{"debug", ""}, "", "", 2, 0.3}, Term{lane, "", "/a", 2, 0.3})
	if p.Declare(now, Term{lane, "", "/b", 2, 0.3}); !p.Fresh(lane) || p.Fresh(Entrant{"debug", ""}) {
		t.Fatalf("another path: %+v", p.Standings())
	}
	moved := now.Add(time.Minute)
	p.Declare(moved, Term{lane, "", "/b2", 2, 0.3})
	if p.Outcome(lane, pass(now)) || p.Outcome(lane, pass(moved)) || !p.Outcome(lane, pass(moved)) {
		t.Errorf("only answers since it is another count: %+v", p.Standings())
	}
	serve(p, moved, "base")
	p.Declare(moved, Term{lane, "", "/c", 2, 0.3})
	if v := (Verdict{Answered: moved, Pass: true, Revision: "other base"}); p.Tries(lane, v) ||
		!p.Tries(lane, pass(moved)) || p.Tries(Entrant{"debug", ""}, pass(moved)) {
		t.Error("an adapter is judged on the weights that are judged")
	}
}

// MEGA-67: no tenant's verdicts are worth more than all others' together, and none can silence a tenant that is as good
// as alone. The gateway's own judge is not bounded.
func TestNoTenantEndsAProbationAlone(t *testing.T) {
	lane, now := Entrant{"debug", ""}, time.Unix(1e9, 0)
	by := func(p *Probation, who string, passes, fails int) {
		for i := range passes + fails {
			p.Outcome(lane, Verdict{Answered: now, Pass: i >= fails, By: who})
		}
	}
	for name, c := range map[string]struct {
		votes map[string][2]int // passes, fails
		fresh bool
	}{
		"alone":                               {map[string][2]int{"a": {73, 0}}, false},
		"beside a few that pass":              {map[string][2]int{"a": {70, 0}, "b": {5, 0}}, false},
		"beside a few that fail":              {map[string][2]int{"a": {1000, 0}, "b": {0, 9}}, false},
		"against half of what is needed":      {map[string][2]int{"a": {10000, 0}, "b": {15, 10}}, true},
		"the gateway's own against the same":  {map[string][2]int{"": {10000, 0}, "b": {15, 10}}, false},
		"with as many of others":              {map[string][2]int{"a": {80, 0}, "b": {40, 0}, "c": {40, 0}}, false},
		"and its failures count, all of them": {map[string][2]int{"a": {0, 1000}, "b": {60, 0}}, true},
	} {
		p := NewProbation(false)
		p.Declare(now, Term{lane, "2", "", 50, 0.95})
		for _, who := range []string{"b", "c", "", "a"} { // the majority last: else it could end it before the others
			by(p, who, c.votes[who][0], c.votes[who][1])
		}
		if p.Fresh(lane) != c.fresh {
			t.Errorf("%s: fresh %v, %+v", name, p.Fresh(lane), p.Standings())
		}
	}
	p := NewProbation(false)
	p.Declare(now, Term{lane, "2", "", 50, 0.95})
	for i := range 300 {
		p.Outcome(lane, Verdict{Answered: now, By: fmt.Sprint("tenant-", i)})
	}
	p.Overturn(lane, fail(now), "tenant-299")
	if s := p.Standings()[0]; len(s.Votes) != keptVoters+1 || s.Judged != 300 {
		t.Errorf("%d voters, %d judged", len(s.Votes), s.Judged)
	}
}

// A trial of a file of before, or of one that was edited, agrees with itself.
func TestATrialThatWasReadAgreesWithItself(t *testing.T) {
	lane := Entrant{"debug", ""}
	for _, read := range []Trial{
		{Judged: 40, Passed: 40}, {Judged: 40, Passed: 40, Votes: []Vote{{By: "a", Passed: 900, Judged: 1000}}},
		{Judged: 40, Passed: 90, Votes: []Vote{{By: "a", Passed: 90, Judged: 40}}},
		{Judged: -1, Passed: 3, Votes: []Vote{{By: "a", Passed: 3, Judged: -1}}},
	} {
		read.Entrant, read.Version, read.Fresh = lane, "2", true
		p := NewProbation(true, read)
		p.Declare(time.Unix(1e9, 0), Term{lane, "2", "", 50, 0.95})
		for range 200 {
			p.Outcome(lane, Verdict{Answered: time.Unix(1e9, 0), Pass: true, By: "b"})
		}
		if s := p.Standings()[0]; p.Fresh(lane) || s.Passed > s.Judged || s.Judged > 240 {
			t.Errorf("%+v became %+v", read, s)
		}
	}
}

// MEGA-67: the breaker goes by the revision that is judged, and forgets what was said of the one before, over a restart
// too.
func TestABreakerGoesByOneRevision(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := newBreaker(CorrectnessConfig{Floor: 0.95, Window: time.Hour, MinSamples: 5, RecoverFor: time.Minute,
		ProbeShare: 0.1, Kinds: []string{"compile"}}, now)
	count := func(n int, revision string) {
		for range n {
			v := Verdict{Answered: now, Revision: revision, Kind: "compile", Pass: revision != "b"}
			l.Count(v, now)
			l.CountKind(v, now)
		}
	}
	count(3, "")
	if l.Revise(now, "a") || l.Revise(now, "") || l.State(now).Samples != 3 {
		t.Fatal("what is told first changes nothing")
	}
	count(100, "a")
	count(50, "b") // the first replica of a rolling upgrade, before it was noticed
	if s := l.State(now); s.Samples != 103 || s.Passed != 103 || !l.Judges("a") || !l.Judges("") || l.Judges("b") {
		t.Errorf("verdicts on another revision: %+v", s)
	}
	now = now.Add(time.Second)
	if !l.Revise(now, "b") || l.State(now).Samples != 0 || len(l.Save(now).Kinds) != 0 {
		t.Errorf("after the change: %+v", l.State(now))
	}
	count(4, "a")
	count(4, "b")
	again := newBreaker(CorrectnessConfig{Floor: 0.95, Window: time.Hour, MinSamples: 5, RecoverFor: time.Minute,
		ProbeShare: 0.1}, now)
	if err := again.Restore(l.Save(now), now); err != nil {
		t.Fatal(err)
	}
	if again.Revise(now, "b") || again.State(now).Samples != 4 || !again.Revise(now, "c") ||
		again.State(now).Samples != 0 {
		t.Errorf("after a restart: %+v", again.State(now))
	}
	if count(1, "b"); l.State(now).Standing != ShadowOnly.String() {
		t.Errorf("five failures of five: %+v", l.State(now))
	}
}

// An answer is the version's that was asked, whenever its verdict comes: one of a version that was replaced counts for
// no trial, by its time or, where the two were in force for a moment beside each other, by its name.
func TestVerdictsAreOfTheVersionThatWasAsked(t *testing.T) {
	lane, now := Entrant{"debug", "gdb"}, time.Unix(1e9, 0)
	p := NewProbation(true)
	p.Declare(now, Term{lane, "1", "", 2, 0.3})
	moved := now.Add(time.Minute)
	p.Declare(moved, Term{lane, "2", "", 2, 0.3})
	for what, c := range map[string]struct {
		verdict  Verdict
		replaced bool
	}{
		"asked before":                     {Verdict{Answered: now, Version: "1"}, true},
		"asked before, of an old record":   {Verdict{Answered: now}, true},
		"asked after, of the one before":   {Verdict{Answered: moved, Version: "1"}, true},
		"asked after":                      {Verdict{Answered: moved, Version: "2"}, false},
		"asked after, version not known":   {Verdict{Answered: moved}, false},
		"asked before, of what came after": {Verdict{Answered: now, Version: "2"}, true},
	} {
		if got := p.Replaced(lane, c.verdict); got != c.replaced || p.Tries(lane, c.verdict) == c.replaced {
			t.Errorf("%s: replaced %v, tries %v", what, got, p.Tries(lane, c.verdict))
		}
	}
	if p.Replaced(Entrant{"debug", "none"}, Verdict{}) {
		t.Error("what was never declared was replaced")
	}
}

package slo

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Entrant is what can be fresh: a specialist, or one of its adapters.
type Entrant struct {
	Specialist string `json:"specialist"`
	Adapter    string `json:"adapter,omitempty"`
}

// Term is a lane as it is declared.
type Term struct {
	Entrant
	Version string
	Need    int     // verdicts that fill its correctness window
	Floor   float64 // the least pass rate that it owes; 0 owes nothing
}

// Trial is what is known of a lane.
type Trial struct {
	Entrant
	Version string    `json:"version"`
	Since   time.Time `json:"since,omitzero"` // it was declared with this version; zero if that is not known
	Fresh   bool      `json:"fresh"`
	Judged  int       `json:"judged"` // answers since then that have a verdict
	Passed  int       `json:"passed"` // of those
	Need    int       `json:"need"`
	Floor   float64   `json:"floor"`
	Low     float64   `json:"low"` // the true rate is above it, with 95 % confidence: at the floor, probation ends
}

// passes reports whether a lane has shown what it owes. No number of verdicts shows a rate of 1: for a floor of 1, Need
// verdicts without a failure are enough.
func (t *Trial) passes() bool {
	t.Low, _ = count{hold: t.Passed, all: t.Judged}.wilson()
	return t.Judged >= t.Need && (t.Low >= t.Floor || t.Floor >= 1 && t.Passed == t.Judged)
}

// Probation knows which lanes are fresh: declared with another version than before, or for the first time, and not
// shown to be good since. A lane passes when it has as many verdicts as it needs, and the least that its pass rate
// could be is at its floor. Neither time nor failures end a probation. Safe for concurrent use; Fresh takes no lock.
type Probation struct {
	fresh atomic.Pointer[map[Entrant]bool] // never modified

	mu      sync.Mutex // guards all below
	lanes   map[Entrant]*Trial
	settled bool // a lane that is not known yet counts as one that has passed
}

// NewProbation returns what goes on from remembered trials. Without any, settled says that the first lanes declared
// count as known; else they are fresh.
func NewProbation(settled bool, remembered ...Trial) *Probation {
	p := &Probation{lanes: make(map[Entrant]*Trial, len(remembered)), settled: settled && len(remembered) == 0}
	for _, s := range remembered {
		p.lanes[s.Entrant] = &s
	}
	p.publish()
	return p
}

// Declare takes the lanes of a configuration that is in force from now on. Those that are not declared any more are
// remembered.
func (p *Probation) Declare(now time.Time, terms ...Term) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range terms {
		s := p.lanes[t.Entrant]
		switch {
		case s == nil:
			p.lanes[t.Entrant] = newTrial(t, now, !p.settled)
		case s.Version != t.Version:
			*s = *newTrial(t, now, true)
		default:
			s.Need, s.Floor = t.Need, t.Floor
			s.Fresh = s.Fresh && !s.passes()
		}
	}
	p.settled = false
	p.publish()
}

func newTrial(t Term, now time.Time, fresh bool) *Trial {
	return &Trial{Entrant: t.Entrant, Version: t.Version, Since: now, Fresh: fresh && t.Need > 0, Need: t.Need,
		Floor: t.Floor}
}

// Outcome counts the first verdict on a lane's answer to a request that arrived at a time, and reports whether it ended
// the lane's probation. An answer to an earlier request than the lane's declaration is of the version before.
func (p *Probation) Outcome(l Entrant, arrived time.Time, pass bool) (ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.onTrial(l, arrived)
	if s == nil {
		return false
	}
	s.Judged++
	if pass {
		s.Passed++
	}
	if s.Fresh = !s.passes(); !s.Fresh {
		p.publish()
	}
	return !s.Fresh
}

// Overturn makes of an answer that had passed one that fails.
func (p *Probation) Overturn(l Entrant, arrived time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.onTrial(l, arrived); s != nil && s.Passed > 0 {
		s.Passed--
		s.passes()
	}
}

// onTrial returns the trial that an answer counts for; nil if there is none. Under mu.
func (p *Probation) onTrial(l Entrant, arrived time.Time) *Trial {
	if s := p.lanes[l]; s != nil && s.Fresh && !arrived.Before(s.Since) {
		return s
	}
	return nil
}

// Fresh reports whether l is on probation. An adapter is where its specialist is.
func (p *Probation) Fresh(l Entrant) bool {
	fresh := *p.fresh.Load()
	return len(fresh) > 0 && (fresh[l] || fresh[Entrant{Specialist: l.Specialist}])
}

// Standings returns all lanes, by name.
func (p *Probation) Standings() []Trial {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Trial, 0, len(p.lanes))
	for _, s := range p.lanes {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Trial) int {
		return cmp.Or(cmp.Compare(a.Specialist, b.Specialist), cmp.Compare(a.Adapter, b.Adapter))
	})
	return all
}

// publish makes what is fresh visible. Under mu.
func (p *Probation) publish() {
	fresh := map[Entrant]bool{}
	for l, s := range p.lanes {
		if s.Fresh {
			fresh[l] = true
		}
	}
	p.fresh.Store(&fresh)
}

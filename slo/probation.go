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
	Version  string
	Revision string  // of an adapter: the path of its weights; "" leaves what is known
	Need     int     // verdicts that fill its correctness window
	Floor    float64 // the least pass rate that it owes; 0 owes nothing
}

// Probation knows which lanes are fresh: declared with another version than before, served in another revision than
// before, or declared for the first time, and not shown to be good since. A lane passes when it has as many verdicts as
// it needs, and the least that its pass rate could be is at its floor, also with no tenant's verdicts above half.
// Neither time nor failures end a probation. Safe for concurrent use; Fresh takes no lock.
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
		s.known()
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
		case s.Version != t.Version || !sameRevision(s.Revision, t.Revision):
			t.Revision = cmp.Or(t.Revision, s.Revision)
			*s = *newTrial(t, now, true)
		default:
			s.Need, s.Floor, s.Revision = t.Need, t.Floor, cmp.Or(t.Revision, s.Revision)
			s.Fresh = s.Fresh && !s.passes()
		}
	}
	p.settled = false
	p.publish()
}

// Serve takes how many replicas of a specialist serve each revision of its weights, as its engines tell it, and returns
// the one that the specialist is judged by: a new one before all others, then one that has not passed, then the one
// before. Another than before is judged by itself: it begins a trial, or goes on with the one that it had under the
// same version. The first that are known begin none. Returns true if the judged one is another than before.
func (p *Probation) Serve(now time.Time, specialist string, serving map[string]int) (judged string, another bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.lanes[Entrant{Specialist: specialist}]
	if s == nil || len(serving) == 0 {
		return "", false
	}
	if s.Revision == "" {
		s.first(serving)
		return s.Revision, false
	}
	next := s.next(serving)
	if next == s.Revision {
		return next, false
	}
	*s = *s.revised(now, next)
	p.publish()
	return next, true
}

// Outcome counts the first verdict on a lane's answer to a request that arrived at v.Answered, and reports whether it
// ended the lane's probation. An answer to an earlier request than the lane's declaration is of the version before, and
// one of another version or revision than is judged counts for none.
func (p *Probation) Outcome(l Entrant, v Verdict) (ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.onTrial(l, v)
	if s == nil {
		return false
	}
	s.vote(v.By, v.Pass, 1)
	if s.Fresh = !s.passes(); !s.Fresh {
		p.publish()
	}
	return !s.Fresh
}

// Overturn makes of an answer that had passed by a voter's verdict one that fails by v's.
func (p *Probation) Overturn(l Entrant, v Verdict, passedBy string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.onTrial(l, v); s != nil && s.has(passedBy) {
		s.vote(passedBy, true, -1)
		s.vote(v.By, false, 1)
		s.passes()
	}
}

// Tries returns true if a verdict counts for the trial of a lane.
func (p *Probation) Tries(l Entrant, v Verdict) bool {
	if !(*p.fresh.Load())[l] {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.onTrial(l, v) != nil
}

// Replaced returns true for a verdict on an answer of a lane as it was declared before, in another version.
func (p *Probation) Replaced(l Entrant, v Verdict) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.lanes[l]
	return s != nil && s.replaces(v)
}

// onTrial returns the trial that a verdict counts for; nil if there is none. Under mu.
func (p *Probation) onTrial(l Entrant, v Verdict) *Trial {
	s := p.lanes[l]
	if s == nil || !s.Fresh || s.replaces(v) {
		return nil
	}
	if base := p.lanes[Entrant{Specialist: l.Specialist}]; base != nil && !sameRevision(base.Revision, v.Revision) {
		return nil
	}
	return s
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
		all = append(all, s.copied())
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

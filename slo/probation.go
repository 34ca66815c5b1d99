package slo

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
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
	Need    int // verdicts that fill its correctness window
}

// Trial is what is known of a lane.
type Trial struct {
	Entrant
	Version string `json:"version"`
	Fresh   bool   `json:"fresh"`
	Judged  int    `json:"judged"` // verdicts since it became fresh, Need at most
	Passed  int    `json:"passed"` // of those
	Need    int    `json:"need"`
}

// Probation knows which lanes are fresh: declared with another version than before, or for the first time, and not
// judged often enough since. No history is not health: time alone ends no probation. Safe for concurrent use; Fresh
// takes no lock.
type Probation struct {
	fresh atomic.Pointer[map[Entrant]bool] // never modified

	mu    sync.Mutex // guards all below
	lanes map[Entrant]*Trial
	begun bool // something was declared before, so that an unknown lane is new
}

// NewProbation returns what goes on from remembered trials. Without any, the first lanes declared count as known.
func NewProbation(remembered ...Trial) *Probation {
	p := &Probation{lanes: make(map[Entrant]*Trial, len(remembered)), begun: len(remembered) > 0}
	for _, s := range remembered {
		p.lanes[s.Entrant] = &s
	}
	p.publish()
	return p
}

// Declare takes the lanes of a configuration. Those that are not declared any more are remembered.
func (p *Probation) Declare(terms ...Term) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range terms {
		s := p.lanes[t.Entrant]
		switch {
		case s == nil:
			p.lanes[t.Entrant] = &Trial{Entrant: t.Entrant, Version: t.Version, Fresh: p.begun && t.Need > 0,
				Need: t.Need}
		case s.Version != t.Version:
			*s = Trial{Entrant: t.Entrant, Version: t.Version, Fresh: t.Need > 0, Need: t.Need}
		default:
			s.Need = t.Need
			s.Fresh = s.Fresh && s.Judged < s.Need
		}
	}
	p.begun = true
	p.publish()
}

// Outcome counts a verdict on a lane's answer, and reports whether it ended the lane's probation.
func (p *Probation) Outcome(l Entrant, pass bool) (ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.lanes[l]
	if s == nil || !s.Fresh {
		return false
	}
	s.Judged++
	if pass {
		s.Passed++
	}
	if s.Fresh = s.Judged < s.Need; !s.Fresh {
		p.publish()
	}
	return !s.Fresh
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

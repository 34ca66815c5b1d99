package slo

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Trial is what is known of a lane.
type Trial struct {
	Entrant
	Version  string    `json:"version"`
	Revision string    `json:"revision,omitempty"` // of its weights: as its engines tell it, or an adapter's path
	Since    time.Time `json:"since,omitzero"`     // it is judged since; zero if that is not known
	Fresh    bool      `json:"fresh"`
	Judged   int       `json:"judged"` // answers since then that have a verdict
	Passed   int       `json:"passed"` // of those
	Need     int       `json:"need"`
	Floor    float64   `json:"floor"`
	Low      float64   `json:"low"` // the true rate is above it, with 95 % confidence: at the floor, probation ends
	// the verdicts apart by the tenant that gave them, by name; "" is the gateway's own judge, and files of before
	Votes   []Vote  `json:"votes,omitempty"`
	Earlier []Trial `json:"earlier,omitempty"` // of other revisions of the same version, the latest first
}

// Vote is the verdicts of one voter.
type Vote struct {
	By     string `json:"by,omitempty"`
	Passed int    `json:"passed"`
	Judged int    `json:"judged"`
}

// replaces returns true for a verdict on an answer of what the lane was before: asked earlier, or of another version.
func (t *Trial) replaces(v Verdict) bool {
	return v.Answered.Before(t.Since) || v.Version != "" && t.Version != "" && v.Version != t.Version
}

const (
	keptEarlier = 4   // trials of other revisions that a lane remembers
	keptVoters  = 256 // voters of a trial that are kept apart
	otherVoters = "…" // all further ones
)

func newTrial(t Term, now time.Time, fresh bool) *Trial {
	return &Trial{Entrant: t.Entrant, Version: t.Version, Revision: t.Revision, Since: now, Fresh: fresh && t.Need > 0,
		Need: t.Need, Floor: t.Floor}
}

// revised returns the trial of another revision of the same version: the one that it had, else a new one.
func (t *Trial) revised(now time.Time, revision string) *Trial {
	of := newTrial(Term{Entrant: t.Entrant, Version: t.Version, Revision: revision, Need: t.Need, Floor: t.Floor},
		now, true)
	earlier := t.Earlier
	if i := slices.IndexFunc(earlier, func(e Trial) bool { return e.Revision == revision }); i >= 0 {
		*of = earlier[i]
		of.Since, of.Need, of.Floor = now, t.Need, t.Floor
		of.Fresh = of.Fresh && !of.passes()
		earlier = slices.Delete(slices.Clone(earlier), i, i+1)
	}
	past := *t
	past.Earlier = nil
	of.Earlier = append([]Trial{past}, earlier[:min(len(earlier), keptEarlier-1)]...)
	return of
}

// first takes the revisions that are known first: all are as the lane is.
func (t *Trial) first(serving map[string]int) {
	t.Revision = mostCommon(serving)
	for _, r := range slices.Sorted(maps.Keys(serving)) {
		if r != t.Revision && len(t.Earlier) < keptEarlier {
			other := *t
			other.Revision, other.Earlier, other.Votes = r, nil, slices.Clone(t.Votes)
			t.Earlier = append(t.Earlier, other)
		}
	}
}

// next returns the revision to be judged of those that replicas serve.
func (t *Trial) next(serving map[string]int) string {
	unknown := maps.Clone(serving)
	delete(unknown, t.Revision)
	for i := range t.Earlier {
		delete(unknown, t.Earlier[i].Revision)
	}
	if len(unknown) > 0 {
		return mostCommon(unknown)
	}
	if t.Fresh && serving[t.Revision] > 0 {
		return t.Revision
	}
	for i := range t.Earlier {
		if e := &t.Earlier[i]; e.Fresh && serving[e.Revision] > 0 {
			return e.Revision
		}
	}
	if serving[t.Revision] > 0 {
		return t.Revision
	}
	return mostCommon(serving)
}

// mostCommon returns the revision that most replicas serve; of equals the first by name.
func mostCommon(serving map[string]int) string {
	return slices.MinFunc(slices.Collect(maps.Keys(serving)), func(a, b string) int {
		return cmp.Or(serving[b]-serving[a], cmp.Compare(a, b))
	})
}

// passes reports whether a lane has shown what it owes, with every verdict counted and with no voter above half. No
// number of verdicts shows a rate of 1: for a floor of 1, Need verdicts without a failure are enough.
func (t *Trial) passes() bool {
	total := count{hold: t.Passed, all: t.Judged}
	fair := fairly(total, halfOf(t.Need), func(yield func(string, count) bool) {
		for _, v := range t.Votes {
			if !yield(v.By, count{hold: v.Passed, all: v.Judged}) {
				return
			}
		}
	})
	t.Low = min(total.least(), fair.least())
	clean := t.Floor >= 1 && t.Passed == t.Judged
	return min(total.all, fair.all) >= t.Need && (t.Low >= t.Floor || clean)
}

// least returns the least that the true rate could be.
func (c count) least() float64 {
	low, _ := c.wilson()
	return low
}

// vote adds n verdicts of a voter.
func (t *Trial) vote(by string, pass bool, n int) {
	v := t.voter(by)
	v.Judged += n
	t.Judged += n
	if pass {
		v.Passed += n
		t.Passed += n
	}
}

// voter returns the verdicts of a voter, which are added if there are none yet.
func (t *Trial) voter(by string) *Vote {
	i := t.find(by)
	if i < 0 && len(t.Votes) >= keptVoters {
		by = otherVoters
		i = t.find(by)
	}
	if i < 0 {
		t.Votes = append(t.Votes, Vote{By: by})
		i = len(t.Votes) - 1
	}
	return &t.Votes[i]
}

func (t *Trial) find(by string) int {
	return slices.IndexFunc(t.Votes, func(v Vote) bool { return v.By == by })
}

// has returns true if a voter has a verdict that passes.
func (t *Trial) has(by string) bool {
	i := t.find(by)
	if i < 0 {
		i = t.find(otherVoters)
	}
	return i >= 0 && t.Votes[i].Passed > 0
}

// known makes a trial that was read agree with itself: one of a file of before has no votes, and a file may be edited.
func (t *Trial) known() {
	t.Judged = max(t.Judged, 0)
	t.Passed = min(max(t.Passed, 0), t.Judged)
	var said count
	possible := len(t.Votes) <= keptVoters+1
	for _, v := range t.Votes {
		said.all += v.Judged
		said.hold += v.Passed
		possible = possible && 0 <= v.Passed && v.Passed <= v.Judged
	}
	if !possible || said != (count{hold: t.Passed, all: t.Judged}) {
		t.Votes = []Vote{{Passed: t.Passed, Judged: t.Judged}}
	}
	t.Earlier = t.Earlier[:min(len(t.Earlier), keptEarlier)]
}

// copied returns a trial that shares nothing with t.
func (t *Trial) copied() Trial {
	c := *t
	c.Votes, c.Earlier = slices.Clone(t.Votes), slices.Clone(t.Earlier)
	return c
}

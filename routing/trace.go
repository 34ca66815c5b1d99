package routing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"octet/routing/index"
)

// Trace tells how a Select came to its decision, or to none. It is a copy: it outlives the Context.
type Trace struct {
	Profile    string           `json:"profile"`
	Role       string           `json:"role"`
	Candidates []CandidateTrace `json:"candidates"` // ascending by host
	Stages     []StageTrace     `json:"stages"`     // in the order in which they ran; empty where no times were taken
}

// CandidateTrace is one candidate's way through the stages.
type CandidateTrace struct {
	Host      index.HostID `json:"host"`
	Replica   string       `json:"replica,omitempty"` // for a caller that knows names; routing leaves it empty
	RemovedBy string       `json:"removed_by"`        // the filter that removed it; "" is kept
	Why       string       `json:"why,omitempty"`     // the filter's word for it; absent if it has none
	Scores    Scores       `json:"scores,omitempty"`  // absent when removed, or when the only one left
	Total     float64      `json:"total"`
}

// StageTrace is the time that one plugin took.
type StageTrace struct {
	Stage  Stage  `json:"stage"`
	Plugin string `json:"plugin"`
	NS     int64  `json:"ns"`
}

// Score is what one scorer said of one candidate.
type Score struct {
	Scorer   string  `json:"-"`
	Raw      float64 `json:"raw"` // after clamping
	Weighted float64 `json:"weighted"`
}

// Scores are one candidate's scores, in profile order. As JSON they are an object by scorer name, in the same order.
type Scores []Score

// MarshalJSON implements json.Marshaler.
func (s Scores) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, score := range s {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(score.Scorer)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(score)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON implements json.Unmarshaler. It keeps the order.
func (s *Scores) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("routing: scores %.20s, want an object", text)
	}
	*s = nil
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		score := Score{Scorer: name.(string)} // an object's keys are strings
		if err := d.Decode(&score); err != nil {
			return err
		}
		*s = append(*s, score)
	}
	_, err := d.Token() // the closing brace
	return err
}

// EnableTrace has Trace return how the Selects that follow went, with the time that each plugin took, by a clock that
// never goes back; nil takes no times.
func (c *Context) EnableTrace(now func() time.Duration) { c.traced, c.now = true, now }

// Timed says whether the plugins' times are taken.
func (c *Context) Timed() bool { return c.now != nil }

// Trace returns how the latest Select went. Nil unless EnableTrace was called before it.
func (c *Context) Trace() *Trace {
	if !c.traced || len(c.records) == 0 {
		return nil
	}
	r := c.records[len(c.records)-1]
	return r.trace(stagesOf([]StageTrace{}, r.laps))
}

// EachLap calls f with the time that each plugin of this request took so far, in the order in which they ran. Nothing
// for a Select that came before EnableTrace.
func (c *Context) EachLap(f func(stage Stage, plugin string, took time.Duration)) {
	each := func(laps []lap) {
		for _, l := range laps {
			f(l.stage, l.name, l.took)
		}
	}
	each(c.hoisted)
	for _, r := range c.records {
		each(r.laps)
	}
	for _, fork := range c.forks {
		for _, r := range fork.records {
			each(r.laps)
		}
	}
}

// record is what a Select leaves behind for a Trace. Its buffers are those that Select works in, so keeping it costs
// nothing.
type record struct {
	profile    *Profile
	candidates index.HostBitmap
	left       index.HostBitmap // of them, after the filters
	cuts       []cut            // what filters removed, in their order
	hosts      []index.HostID   // that passed all filters, ascending
	raw        []float64        // [scorer][host], clamped; empty when there was nothing to choose
	total      []float64        // [host]
	laps       []lap            // only when timed
}

// cut is what was left after a filter that removed something.
type cut struct {
	filter int // index into profile.filters
	left   index.HostBitmap
	why    []why // of those that it removed; nil if the filter says nothing
}

type lap struct {
	*unit
	took time.Duration
}

func (r *record) reset(p *Profile, candidates *index.HostBitmap) {
	r.profile, r.candidates, r.left = p, *candidates, *candidates
	r.cuts, r.hosts, r.raw, r.total, r.laps = r.cuts[:0], r.hosts[:0], r.raw[:0], r.total[:0], r.laps[:0]
}

// enter notes that a plugin runs from now on. Its unit decides what it may read and write, and gets the blame for a
// panic.
func (c *Context) enter(u *unit) { c.running = u }

// leave notes that the running plugin has done its part. Only a timed Context looks at the clock.
func (c *Context) leave(r *record) {
	if c.now != nil {
		c.lap(r)
	}
}

// lap notes the time since the previous lap on the running plugin.
func (c *Context) lap(r *record) {
	now := c.now()
	r.laps = append(r.laps, lap{c.running, now - c.last})
	c.last = now
}

// nothingPicked returns the error for a picker that picked none of those that filters have left.
func (r *record) nothingPicked(u *picker, v View) error {
	e := &NoCandidateError{Filter: u.name}
	e.Before, e.Removed = r.removals(r.cuts)
	if x, ok := u.Picker.(Explainer); ok {
		e.Why = x.Why(v)
	}
	return e
}

// noneLeft returns the error for a filter that has removed the last candidates. It names what others had removed
// before it.
func (r *record) noneLeft(f *filter) *NoCandidateError {
	e := &NoCandidateError{Filter: f.name}
	if judge, ok := f.Filter.(Judge); ok {
		e.Verdict = judge.Verdict()
	}
	e.Before, e.Removed = r.removals(r.cuts[:len(r.cuts)-1])
	e.Why = r.words()
	return e
}

// removals returns what each cut removed, and how many were left after them.
func (r *record) removals(cuts []cut) (all []Removal, left int) {
	left = r.candidates.Count()
	for i := range cuts {
		now := cuts[i].left.Count()
		all = append(all, Removal{r.profile.filters[cuts[i].filter].name, left - now})
		left = now
	}
	return all, left
}

// trace tells of the Select, whose stages took so long.
func (r *record) trace(stages []StageTrace) *Trace {
	t := &Trace{
		Profile: r.profile.name, Role: r.profile.role.String(),
		Candidates: make([]CandidateTrace, 0, r.candidates.Count()), Stages: stages,
	}
	for h := range r.candidates.All() {
		t.Candidates = append(t.Candidates, r.removed(h))
	}
	r.addScores(t)
	return t
}

// addScores adds what each scorer said of the candidates that were left.
func (r *record) addScores(t *Trace) {
	if len(r.total) == 0 {
		return
	}
	n, k := len(r.hosts), len(r.raw)/len(r.hosts)
	scores := make(Scores, 0, len(r.raw))
	at := 0
	for i := range t.Candidates {
		cand := &t.Candidates[i]
		if at == n || cand.Host != r.hosts[at] {
			continue
		}
		cand.Total = r.total[at]
		for s, u := range r.profile.scorers[:k] {
			raw := r.raw[s*n+at]
			scores = append(scores, Score{u.name, raw, u.weight * raw})
		}
		if k > 0 {
			cand.Scores = scores[len(scores)-k : len(scores) : len(scores)]
		}
		at++
	}
}

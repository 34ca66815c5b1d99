package routing

import (
	"slices"

	"octet/routing/index"
)

// selection is what a Context remembers of one leg of a workflow.
type selection struct {
	leg     string
	skipped string   // why the leg gives no step; "" if it gives one
	way     string   // that a Handler chose; "" if none had to
	why     string   // it chose it
	in      *Context // where its record is; nil if nothing was selected
	record  int
}

// made returns the record of the selection; nil if nothing was selected.
func (s *selection) made() *record {
	if s.in == nil || s.record < 0 || s.record >= len(s.in.records) {
		return nil
	}
	return s.in.records[s.record]
}

// LegSelection is how one leg of a workflow selected. It is a copy: it outlives the Context.
type LegSelection struct {
	Leg     string // "" if there is only one
	Skipped string // why the leg gives no step; "" if it gives one
	Way     string // that a Handler chose, by its name; "" if none had to
	Why     string // it chose it
	*Selected
}

// Selected is what one Select came to: the numbers that Trace needs. Immutable.
type Selected struct {
	profile    *Profile
	candidates index.HostBitmap
	left       index.HostBitmap // of them, after the filters
	cuts       []cut
	total, raw []float64 // as in a record
	stages     []StageTrace
}

// AppendSelections appends how the legs of the latest workflow selected, in their order. Selected is nil if a leg
// selected nothing, and without EnableTrace.
func (c *Context) AppendSelections(all []LegSelection) []LegSelection {
	hoisted := c.hoisted // of all legs; the first leg that selected tells them
	for i := range c.selections {
		s := &c.selections[i]
		leg := LegSelection{Leg: s.leg, Skipped: s.skipped, Way: s.way, Why: s.why}
		if r := s.made(); r != nil && c.traced {
			leg.Selected = r.selected(hoisted)
			hoisted = nil
		}
		all = append(all, leg)
	}
	return all
}

// selected copies r, with the laps that came before its own.
func (r *record) selected(hoisted []lap) *Selected {
	made := new(struct {
		Selected
		room [8]float64 // the numbers of few candidates
	})
	n, numbers := len(r.total), append(append(made.room[:0], r.total...), r.raw...)
	made.Selected = Selected{
		profile: r.profile, candidates: r.candidates, left: r.left, cuts: slices.Clone(r.cuts),
		total: numbers[:n:n], raw: numbers[n:], stages: stagesOf(nil, hoisted, r.laps),
	}
	return &made.Selected
}

// Eligible returns the candidates that passed all filters.
func (s *Selected) Eligible() *index.HostBitmap { return &s.left }

// Trace renders s; nil of nil.
func (s *Selected) Trace() *Trace {
	if s == nil {
		return nil
	}
	r := record{profile: s.profile, candidates: s.candidates, left: s.left, cuts: s.cuts,
		hosts: appendHosts(nil, &s.left), total: s.total, raw: s.raw}
	return r.trace(append([]StageTrace{}, s.stages...)) // empty, not null, if no times were taken
}

// stagesOf appends times.
func stagesOf(stages []StageTrace, lists ...[]lap) []StageTrace {
	for _, laps := range lists {
		for _, l := range laps {
			stages = append(stages, StageTrace{l.stage, l.name, int64(l.took)})
		}
	}
	return stages
}

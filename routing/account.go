package routing

import (
	"slices"

	"octet/routing/index"
)

// selection is what a Context remembers of one leg of a workflow.
type selection struct {
	leg     string
	skipped string   // why the leg gives no step; "" where it does
	in      *Context // where its record is; nil where nothing was selected
	record  int
}

// made returns the record of the selection; nil where there is none, or it was handed over.
func (s *selection) made() *record {
	if s.in == nil || s.record < 0 || s.record >= len(s.in.records) {
		return nil
	}
	if r := s.in.records[s.record]; r != nil && r.profile != nil {
		return r
	}
	return nil
}

// LegSelection tells how one leg of a workflow selected. It is a copy: it outlives the Context.
type LegSelection struct {
	Leg     string // "" where there is only one
	Skipped string // why the leg gives no step; "" where it does
	Trace   *Trace // nil where nothing was selected, and without EnableTrace
}

// Selections returns how the legs of the latest workflow went, in their order.
func (c *Context) Selections() []LegSelection {
	var all []LegSelection
	hoisted := c.hoisted
	for i := range c.selections {
		s := &c.selections[i]
		leg := LegSelection{Leg: s.leg, Skipped: s.skipped}
		if r := s.made(); r != nil && c.traced {
			leg.Trace = r.trace(hoisted)
			hoisted = nil
		}
		all = append(all, leg)
	}
	return all
}

// Account is a LegSelection that is told when it is asked for: until then it is the bare facts. It outlives the Context, and holds
// on to the profile.
type Account struct {
	Leg     string // "" where there is only one
	Skipped string // why the leg gives no step; "" where it does

	made    *record // of no profile where nothing is told
	hoisted []lap
}

// Trace returns how the leg was selected; nil where nothing was selected, and without EnableTrace.
func (a *Account) Trace() *Trace {
	if a.made == nil || a.made.profile == nil {
		return nil
	}
	return a.made.trace(a.hoisted)
}

// Candidates returns who could be selected, read-only; nobody where Trace is nil.
func (a *Account) Candidates() *index.HostBitmap {
	if a.made == nil {
		return &index.HostBitmap{}
	}
	return &a.made.candidates
}

// HandOver appends what Selections tells to dst, without copying it: from then on the Context knows nothing of it. What lies in dst
// beyond its length is void, and its memory used.
func (c *Context) HandOver(dst []Account) []Account {
	hoisted := c.hoisted
	for i := range c.selections {
		s, n := &c.selections[i], len(dst)
		dst = slices.Grow(dst, 1)[:n+1]
		a := &dst[n]
		a.Leg, a.Skipped, a.hoisted = s.leg, s.skipped, a.hoisted[:0]
		r := s.made()
		spare := a.made
		if spare != nil {
			spare.reset(nil, &index.HostBitmap{})
		}
		if r != nil && c.traced {
			a.made, s.in.records[s.record] = r, spare
			a.hoisted, hoisted = append(a.hoisted, hoisted...), nil
		}
	}
	return dst
}

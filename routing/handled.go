package routing

import (
	"context"
	"fmt"
)

// Handler chooses by which of several workflows a request goes, cycle by cycle.
type Handler interface {
	// Reads declares the slots that it reads: they are prepared before it is asked.
	Reads() []AnySlot
	// Pick returns the way of the next cycle, by its index, and why in a few words. It is asked again after each cycle,
	// with what came of all earlier ones. Negative: none is left.
	Pick(v View, earlier []Cycle) (way int, why string)
}

// Way is one workflow that a Handler may choose.
type Way struct {
	Name string // of the profile that makes it what it is
	Workflow
}

// Cycle is one workflow that was run for a request, and what came of it.
type Cycle struct {
	Way  int
	Why  string // it was chosen
	Plan Plan   // empty after an error
	Err  error
}

// Handled is the Workflow that a Handler chooses, request by request. The plan is that of the last cycle that gives
// one; without any, the error is the last cycle's. Safe for concurrent use.
type Handled struct {
	handler Handler
	ways    []Way
	hoists  []hoist
}

// Handle returns the workflow of a handler over ways. The error is ErrWorkflow.
func Handle(h Handler, ways ...Way) (*Handled, error) {
	if len(ways) == 0 {
		return nil, fmt.Errorf("%w: no way to choose", ErrWorkflow)
	}
	var wanted, settled slotSet
	for _, u := range uses(h.Reads()) {
		wanted.add(u.id)
	}
	w := &Handled{handler: h, ways: ways}
	for _, way := range ways {
		for _, p := range wayProfiles(way.Workflow) {
			if o := (hoist{profile: p, indices: p.behind(&wanted, &settled)}); len(o.indices) > 0 {
				w.hoists = append(w.hoists, o)
			}
		}
	}
	wanted.drop(&settled)
	if wanted != (slotSet{}) {
		return nil, fmt.Errorf("%w: the handler reads a slot that no way prepares", ErrWorkflow)
	}
	return w, nil
}

// wayProfiles returns the profiles that a workflow selects by.
func wayProfiles(w Workflow) []*Profile {
	switch w := w.(type) {
	case *single:
		if w.profile != nil {
			return []*Profile{w.profile}
		}
	case *Flow:
		return profilesOf(w.legs)
	}
	return nil
}

// Plan implements Workflow. There are at most as many cycles as ways.
func (w *Handled) Plan(ctx context.Context, c *Context) (Plan, error) {
	if !c.candidates.Empty() { // without any, the first cycle says so
		for i := range w.hoists {
			if err := w.hoists[i].runOnce(ctx, c); err != nil {
				return Plan{}, err
			}
		}
	}
	var plan Plan
	err := fmt.Errorf("%w: the handler chose no way", ErrWorkflow)
	for range w.ways {
		way, why := w.handler.Pick(c.View(), c.cycles)
		if way < 0 {
			break
		}
		cycle := w.run(ctx, c, way, why)
		if cycle.Err == nil || len(plan.Steps) == 0 {
			plan, err = cycle.Plan, cycle.Err
		}
		if cycle.Err == nil {
			c.way = way
		}
	}
	return plan, err
}

// run is one cycle.
func (w *Handled) run(ctx context.Context, c *Context, way int, why string) *Cycle {
	first := len(c.selections)
	plan, err := w.ways[way].Plan(ctx, c)
	for i := range c.selections[first:] {
		s := &c.selections[first+i]
		s.way, s.why = w.ways[way].Name, why
	}
	c.cycles = append(c.cycles, Cycle{Way: way, Why: why, Plan: plan, Err: err})
	return &c.cycles[len(c.cycles)-1]
}

// Way returns the index of the way that the latest plan goes, which is 0 unless a Handler chose another.
func (c *Context) Way() int { return c.way }

var _ Workflow = (*Handled)(nil)

package routing

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Flow is a Workflow of any number of legs. They share one Context: what they have in common is prepared once, and then
// they select in their order, neighbours side by side where no slot ties them. Safe for concurrent use.
type Flow struct {
	legs   []Leg
	hoists []hoist
	stale  []slotSet // by leg: what has to be prepared anew after its pick
	waves  []int     // where each group of legs that select side by side ends
}

// NewFlow returns the workflow of the legs in their order. The last one answers. The error is ErrWorkflow.
func NewFlow(legs ...Leg) (*Flow, error) {
	if err := checkLegs(legs); err != nil {
		return nil, err
	}
	hoists, settled := hoistsOf(legs)
	w := &Flow{legs: slices.Clone(legs), hoists: hoists, waves: wavesOf(legs, &settled)}
	for i := range legs {
		w.stale = append(w.stale, lateSlots(&legs[i], profilesOf(legs)))
	}
	return w, nil
}

// outcome is what became of one leg of one request.
type outcome struct {
	decision Decision
	skipped  string
	err      error
	in       *Context // where it selected; nil where it did not
	record   int      // of in
}

// why returns why the leg gives no step; "" where it does.
func (o *outcome) why() string {
	if o.err != nil {
		return o.err.Error()
	}
	return o.skipped
}

// Plan implements Workflow. A leg is left out where its Decider says so or, under Skip, where it has no candidate. The
// error of any other stage is the plan's.
func (w *Flow) Plan(ctx context.Context, c *Context) (Plan, error) {
	outcomes := make([]outcome, len(w.legs))
	err := w.prepare(ctx, c)
	first := 0
	for _, end := range w.waves {
		if err == nil {
			err = w.wave(ctx, c, outcomes, first, end)
		}
		first = end
	}
	if err == nil {
		w.reconsider(c, outcomes)
	}
	steps := w.steps(c, outcomes)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Steps: steps}, nil
}

// steps notes how every leg went, those excepted that an error came before, and returns the steps of those that give
// one.
func (w *Flow) steps(c *Context, outcomes []outcome) []Step {
	n := len(c.steps)
	for i := range outcomes {
		o, s := &outcomes[i], &w.legs[i]
		if o.in == nil && o.why() == "" {
			continue
		}
		c.selections = append(c.selections, selection{leg: s.Name, skipped: o.why(), in: o.in, record: o.record})
		if o.why() == "" {
			c.steps = append(c.steps,
				Step{Name: s.Name, Role: o.decision.Role, Ranked: o.decision.Ranked, OnFailure: s.OnFailure,
					Tries: s.Tries})
		}
	}
	return c.steps[n:len(c.steps):len(c.steps)]
}

// prepare does once what several legs need, before any candidate is looked at.
func (w *Flow) prepare(ctx context.Context, c *Context) error {
	if c.candidates.Empty() {
		return nil // the first leg says so
	}
	for i := range w.hoists {
		if err := w.hoists[i].runOnce(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// wave has the legs from first to end select.
func (w *Flow) wave(ctx context.Context, c *Context, outcomes []outcome, first, end int) error {
	var ask []int
	for i := first; i < end; i++ {
		if d := w.legs[i].Decider; d != nil {
			outcomes[i].skipped = d.Before(c.View())
		}
		if outcomes[i].skipped == "" {
			ask = append(ask, i)
		}
	}
	w.sideBySide(ctx, c, outcomes, ask)
	for _, i := range ask {
		if err := w.adopt(c, i, &outcomes[i]); err != nil {
			return err
		}
	}
	return nil
}

// sideBySide has legs select: one right here, several each in a goroutine of its own that has ended on return.
func (w *Flow) sideBySide(ctx context.Context, c *Context, outcomes []outcome, ask []int) {
	if len(ask) == 1 {
		o := &outcomes[ask[0]]
		o.in, o.record = c, len(c.records)
		o.decision, o.err = w.legs[ask[0]].Selector.Select(ctx, c)
		return
	}
	for _, i := range ask {
		outcomes[i].in = c.fork()
	}
	var selecting sync.WaitGroup
	for _, i := range ask {
		o, s := &outcomes[i], w.legs[i].Selector
		selecting.Go(func() { o.decision, o.err = s.Select(ctx, o.in) })
	}
	selecting.Wait()
	for _, i := range ask {
		c.join(outcomes[i].in)
	}
}

// adopt takes over what a leg decided: its pick goes where later legs find it. It returns the error that ends the
// plan.
func (w *Flow) adopt(c *Context, i int, o *outcome) error {
	s := &w.legs[i]
	switch {
	case o.err == nil:
		if s.Pick.Slot != nil {
			s.Pick.Put(c, o.decision.Ranked[0].Host)
			c.prepared.drop(&w.stale[i])
		}
	case s.OnFailure == Skip && errors.Is(o.err, ErrNoCandidate):
		o.skipped, o.err = o.err.Error(), nil
	}
	return o.err
}

// reconsider leaves out the steps that are not worth it now that all have selected.
func (w *Flow) reconsider(c *Context, outcomes []outcome) {
	last := outcomes[len(outcomes)-1].decision.Ranked[0].Host
	for i := range outcomes {
		if d := w.legs[i].Decider; d != nil && outcomes[i].skipped == "" {
			outcomes[i].skipped = d.After(c.View(), last)
		}
	}
}

var _ Workflow = (*Flow)(nil)

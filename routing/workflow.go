package routing

import (
	"context"
	"slices"
)

// Workflow composes one or more Selectors over one Context into a Plan.
type Workflow interface {
	Plan(ctx context.Context, c *Context) (Plan, error)
}

// Plan is what is to be executed, step after step; the last step is the one that answers. Valid until the Context is
// released.
type Plan struct{ Steps []Step }

// Step is one dispatch: to the best of Ranked, or to the next ones as OnFailure has it.
type Step struct {
	Name      string // of the Leg that it comes of; "" where there is only one
	Role      Role
	Ranked    []Scored // best first, at least one
	OnFailure FailurePolicy
	Tries     int // replicas tried at most; 0 is all of Ranked under Retry, and one under any other policy
}

// FailurePolicy says what a Step that has failed does to its Plan.
type FailurePolicy uint8

// Failure policies.
const (
	Retry FailurePolicy = iota // try the next in rank, within bounds; then fail the plan
	Skip                       // one try, or Tries; what follows does without this step
	Fail                       // one try, or Tries; then fail the plan
)

// String returns the lower-case name.
func (p FailurePolicy) String() string { return [...]string{"retry", "skip", "fail"}[p] }

// Single is the Workflow of one selection and one dispatch, retried down the ranking.
func Single(s Selector) Workflow {
	profile, _ := s.(*Profile)
	return &single{s, profile}
}

type single struct {
	selector Selector
	profile  *Profile // selector, where it is one
}

// Plan implements Workflow.
func (w *single) Plan(ctx context.Context, c *Context) (Plan, error) {
	role, ranked, err := w.choose(ctx, c)
	n := len(c.selections)
	c.selections = slices.Grow(c.selections, 1)[:n+1]
	s := &c.selections[n]
	s.leg, s.skipped, s.way, s.why, s.in, s.record = "", "", "", "", c, len(c.records)-1
	if err != nil {
		s.skipped = err.Error()
		return Plan{}, err
	}
	n = len(c.steps)
	c.steps = slices.Grow(c.steps, 1)[:n+1]
	step := &c.steps[n]
	step.Name, step.Role, step.Ranked, step.OnFailure, step.Tries = "", role, ranked, Retry, 0
	return Plan{Steps: c.steps[n : n+1 : n+1]}, nil
}

func (w *single) choose(ctx context.Context, c *Context) (Role, []Scored, error) {
	if p := w.profile; p != nil {
		ranked, err := p.rank(ctx, c)
		return p.role, ranked, err
	}
	d, err := w.selector.Select(ctx, c)
	return d.Role, d.Ranked, err
}

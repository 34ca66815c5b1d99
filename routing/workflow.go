package routing

import "context"

// Workflow composes one or more Selectors over one Context into a Plan.
type Workflow interface {
	Plan(ctx context.Context, c *Context) (Plan, error)
}

// Plan is what is to be executed, step after step. Valid until the Context is released.
type Plan struct{ Steps []Step }

// Step is one dispatch: to the best of Ranked, or to the next ones as OnFailure has it.
type Step struct {
	Role      Role
	Ranked    []Scored // best first, at least one
	OnFailure FailurePolicy
}

// FailurePolicy says what a failing Step does to its Plan.
type FailurePolicy uint8

// Failure policies.
const (
	Retry FailurePolicy = iota // try the next in rank, within bounds; then fail the plan
	Skip                       // one try; what follows does without this step
	Fail                       // one try; then fail the plan
)

// String returns the lower-case name.
func (p FailurePolicy) String() string { return [...]string{"retry", "skip", "fail"}[p] }

// Single is the Workflow of one selection and one dispatch, retried down the ranking.
func Single(s Selector) Workflow { return single{s} }

type single struct{ selector Selector }

// Plan implements Workflow.
func (w single) Plan(ctx context.Context, c *Context) (Plan, error) {
	d, err := w.selector.Select(ctx, c)
	if err != nil {
		return Plan{}, err
	}
	n := len(c.steps)
	c.steps = append(c.steps, Step{Role: d.Role, Ranked: d.Ranked, OnFailure: Retry})
	return Plan{Steps: c.steps[n : n+1 : n+1]}, nil
}

package routing

import (
	"context"
	"slices"
)

// Workflow composes one or more Selectors over one Context into a Plan.
type Workflow interface {
	Plan(ctx context.Context, c *Context) (Plan, error)
}

// Plan is what is to be executed, step after step; the last step is the one that answers. Valid until the Context is released.
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
func Single(s Selector) Workflow { return single{s} }

type single struct{ selector Selector }

// Plan implements Workflow.
func (w single) Plan(ctx context.Context, c *Context) (Plan, error) {
	n := len(c.steps)
	d, err := w.selector.Select(ctx, c)
	c.selections = append(c.selections, selection{in: c, record: len(c.records) - 1})
	if err != nil {
		c.selections[len(c.selections)-1].skipped = err.Error()
		return Plan{}, err
	}
	c.steps = append(c.steps, Step{Role: d.Role, Ranked: d.Ranked, OnFailure: Retry})
	return Plan{Steps: c.steps[n : n+1 : n+1]}, nil
}

// selection is what a Context remembers of one leg of a workflow.
type selection struct {
	leg     string
	skipped string   // why the leg gives no step; "" where it does
	in      *Context // where its record is; nil where nothing was selected
	record  int
}

// LegSelection tells how one leg of a workflow selected. It is a copy: it outlives the Context.
type LegSelection struct {
	Leg     string // "" where there is only one
	Skipped string // why the leg gives no step; "" where it does
	Trace   *Trace // nil where nothing was selected, and without EnableTrace

	scores Scores // of all candidates of Trace, in one array
}

// Selections returns how the legs of the latest workflow went, in their order.
func (c *Context) Selections() []LegSelection { return c.AppendSelections(nil) }

// AppendSelections appends Selections to dst. What lies in dst beyond its length is written over: traces there are void.
func (c *Context) AppendSelections(dst []LegSelection) []LegSelection {
	n := len(dst)
	for _, s := range c.selections {
		var old LegSelection
		if len(dst) < cap(dst) {
			old = dst[:len(dst)+1][len(dst)]
		}
		leg := LegSelection{Leg: s.leg, Skipped: s.skipped}
		if s.in != nil && c.traced && s.record >= 0 && s.record < len(s.in.records) {
			leg.Trace, leg.scores = s.in.records[s.record].trace(old.Trace, old.scores)
		}
		dst = append(dst, leg)
	}
	c.addHoisted(dst[n:])
	return dst
}

// addHoisted puts what was prepared for all legs before the first that selected.
func (c *Context) addHoisted(all []LegSelection) {
	i := slices.IndexFunc(all, func(s LegSelection) bool { return s.Trace != nil })
	if i < 0 || len(c.hoisted) == 0 {
		return
	}
	all[i].Trace.Stages = append(appendStages(nil, c.hoisted), all[i].Trace.Stages...)
}

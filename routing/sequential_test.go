package routing_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/routing"
	"octet/routing/index"
)

// MOD3-19, MOD3-20, MOD3-44, MOD3-46: each policy, at a step before the last and at the last.
func TestSequentialExecutorRunsStepAfterStep(t *testing.T) {
	retryable := fmt.Errorf("connect: %w", routing.ErrRetryable)
	final := errors.New("the client's mistake")
	no := func() bool { return false }
	for name, test := range map[string]struct {
		executor      routing.SequentialExecutor
		prefill, last routing.FailurePolicy
		tries         int
		answers       []error
		calls         []string
		want          error
	}{
		"both answer": {answers: []error{nil, nil}, calls: []string{"p4#1", "d5#1"}},
		"prefill retries": {answers: []error{retryable, nil, nil},
			calls: []string{"p4#1", "p2#2", "d5#1"}},
		"prefill has none left": {answers: []error{retryable, retryable}, calls: []string{"p4#1", "p2#2"},
			want: retryable},
		"prefill fails": {prefill: routing.Fail, answers: []error{retryable}, calls: []string{"p4#1"},
			want: retryable},
		"prefill fails at its second": {prefill: routing.Fail, tries: 2, answers: []error{retryable, retryable},
			calls: []string{"p4#1", "p2#2"}, want: retryable},
		"prefill is skipped": {prefill: routing.Skip, answers: []error{retryable, nil},
			calls: []string{"p4#1", "d5#1"}},
		"prefill is skipped after two": {prefill: routing.Skip, tries: 2, answers: []error{retryable, retryable, nil},
			calls: []string{"p4#1", "p2#2", "d5#1"}},
		"what is final skips at once": {prefill: routing.Skip, tries: 2, answers: []error{final, nil},
			calls: []string{"p4#1", "d5#1"}},
		"attempts are a step's": {executor: routing.SequentialExecutor{MaxAttempts: 1},
			answers: []error{nil, retryable}, calls: []string{"p4#1", "d5#1"}, want: retryable},
		"no budget is no second try": {executor: routing.SequentialExecutor{Budget: no}, prefill: routing.Skip,
			tries: 2, answers: []error{retryable, nil}, calls: []string{"p4#1", "d5#1"}},
		"decode retries": {answers: []error{nil, retryable, nil},
			calls: []string{"p4#1", "d5#1", "d3#2"}},
		"decode fails": {last: routing.Fail, answers: []error{nil, retryable},
			calls: []string{"p4#1", "d5#1"}, want: retryable},
		"decode skipped serves nobody": {last: routing.Skip, answers: []error{nil, retryable},
			calls: []string{"p4#1", "d5#1"}, want: routing.ErrSkipped},
		"breakers are open, and skipped": {prefill: routing.Skip,
			answers: []error{routing.ErrNotTried, routing.ErrNotTried, nil}, calls: []string{"p4#1", "p2#1", "d5#1"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &legDispatches{answers: test.answers}
			err := test.executor.Execute(t.Context(), twoSteps(test.prefill, test.tries, test.last), d)
			if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Errorf("error is %v, want %v", err, test.want)
			}
			if diff := cmp.Diff(test.calls, d.calls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func twoSteps(prefill routing.FailurePolicy, tries int, last routing.FailurePolicy) routing.Plan {
	return routing.Plan{Steps: []routing.Step{
		{Name: "p", OnFailure: prefill, Tries: tries, Ranked: []routing.Scored{{Host: 4}, {Host: 2}}},
		{Name: "d", OnFailure: last, Ranked: []routing.Scored{{Host: 5}, {Host: 3}}},
	}}
}

// legDispatches answers the i-th dispatch with the i-th error and notes step, host and attempt.
type legDispatches struct {
	answers []error
	calls   []string
	end     context.CancelFunc // called by the first dispatch, unless nil
}

func (d *legDispatches) Dispatch(_ context.Context, s routing.Step, host index.HostID, attempt int) error {
	d.calls = append(d.calls, fmt.Sprintf("%s%d#%d", s.Name, host, attempt))
	if d.end != nil {
		d.end()
	}
	return d.answers[len(d.calls)-1]
}

//nolint:lll // raw text that cannot be broken
func TestASkippedStepDoesNotOutliveItsClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := &legDispatches{answers: []error{routing.ErrRetryable, nil}, end: cancel}
	if err := (routing.SequentialExecutor{}).Execute(ctx, twoSteps(routing.Skip, 0, routing.Retry), d); !errors.Is(err, routing.ErrRetryable) || len(d.calls) != 1 {
		t.Errorf("%v after %v", err, d.calls)
	}
}

func TestSequentialExecutorTakesPlansWithStepsAndRankings(t *testing.T) {
	for _, p := range []routing.Plan{{}, {Steps: make([]routing.Step, 2)}} {
		if err := (routing.SequentialExecutor{}).Execute(t.Context(), p, nil); !errors.Is(err, routing.ErrPlan) {
			t.Errorf("%d steps: %v", len(p.Steps), err)
		}
	}
}

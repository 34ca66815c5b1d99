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

// dispatches answers the i-th dispatch with the i-th error and notes host and attempt.
type dispatches struct {
	answers []error
	calls   []string
	end     context.CancelFunc // called by the first dispatch, unless nil
}

func (d *dispatches) Dispatch(_ context.Context, _ routing.Step, host index.HostID, attempt int) error {
	d.calls = append(d.calls, fmt.Sprintf("%d#%d", host, attempt))
	if d.end != nil {
		d.end()
	}
	return d.answers[len(d.calls)-1]
}

func plan(policy routing.FailurePolicy) routing.Plan {
	return routing.Plan{Steps: []routing.Step{{OnFailure: policy,
		Ranked: []routing.Scored{{Host: 4}, {Host: 2}, {Host: 7}, {Host: 1}}}}}
}

// MOD3-17, MOD3-18, MOD3-20, MOD3-44
func TestExecutorGoesDownTheRanking(t *testing.T) {
	retryable := fmt.Errorf("connect: %w", routing.ErrRetryable)
	closed := fmt.Errorf("breaker: %w", routing.ErrNotTried)
	final := errors.New("reset after the first byte")
	no, yes := func() bool { return false }, func() bool { return true }
	for name, test := range map[string]struct {
		executor routing.SequentialExecutor
		policy   routing.FailurePolicy
		answers  []error
		calls    []string
		want     error
	}{
		"the best answers": {answers: []error{nil}, calls: []string{"4#1"}},
		"the third answers": {answers: []error{retryable, retryable, nil},
			calls: []string{"4#1", "2#2", "7#3"}},
		"a final failure": {answers: []error{retryable, final}, calls: []string{"4#1", "2#2"},
			want: final},
		"all fail": {answers: []error{retryable, retryable, retryable, retryable},
			calls: []string{"4#1", "2#2", "7#3", "1#4"}, want: retryable},
		"attempts run out": {executor: routing.SequentialExecutor{MaxAttempts: 2},
			answers: []error{retryable, retryable}, calls: []string{"4#1", "2#2"}, want: retryable},
		"no budget": {executor: routing.SequentialExecutor{Budget: no}, answers: []error{retryable},
			calls: []string{"4#1"}, want: retryable},
		"the first try costs none": {executor: routing.SequentialExecutor{Budget: no}, answers: []error{nil},
			calls: []string{"4#1"}},
		"budget": {executor: routing.SequentialExecutor{Budget: yes},
			answers: []error{retryable, nil}, calls: []string{"4#1", "2#2"}},
		"what was not tried is free": {executor: routing.SequentialExecutor{Budget: no, MaxAttempts: 1},
			answers: []error{closed, closed, nil}, calls: []string{"4#1", "2#1", "7#1"}},
		"none was tried": {answers: []error{closed, closed, closed, closed},
			calls: []string{"4#1", "2#1", "7#1", "1#1"}, want: closed},
		"the failure outweighs": {answers: []error{retryable, closed, closed, closed},
			calls: []string{"4#1", "2#2", "7#2", "1#2"}, want: retryable},
		"policy fail": {policy: routing.Fail, answers: []error{retryable}, calls: []string{"4#1"},
			want: retryable},
		"policy skip": {policy: routing.Skip, answers: []error{retryable}, calls: []string{"4#1"},
			want: routing.ErrSkipped},
		"policy skip keeps the cause": {policy: routing.Skip, answers: []error{final}, calls: []string{"4#1"},
			want: final},
		"policy skip may also succeed": {policy: routing.Skip, answers: []error{nil}, calls: []string{"4#1"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &dispatches{answers: test.answers}
			err := test.executor.Execute(t.Context(), plan(test.policy), d)
			if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Errorf("error is %v, want %v", err, test.want)
			}
			if diff := cmp.Diff(test.calls, d.calls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARetryIsPaidForOnce(t *testing.T) {
	asked := 0
	e := routing.SequentialExecutor{Budget: func() bool { asked++; return true }}
	d := &dispatches{answers: []error{routing.ErrRetryable, routing.ErrNotTried, routing.ErrNotTried, nil}}
	if err := e.Execute(t.Context(), plan(routing.Retry), d); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

func TestExecutionStopsWhenTheClientLeaves(t *testing.T) {
	for _, answer := range []error{routing.ErrRetryable, routing.ErrNotTried} {
		ctx, cancel := context.WithCancel(t.Context())
		d := &dispatches{answers: []error{answer, nil}, end: cancel}
		if err := (routing.SequentialExecutor{}).Execute(ctx, plan(routing.Retry), d); !errors.Is(err, answer) ||
			len(d.calls) != 1 {
			t.Errorf("%v: %v after %v", answer, err, d.calls)
		}
	}
}

// MOD3-16, MOD3-39, GAIE-32
func TestSingleMakesAPlanOfOneStep(t *testing.T) {
	p := build(t, routing.ProfileSpec{Name: "p", Filter: named("drop"), Pick: routing.PluginSpec{Name: "best"}},
		routing.Registry{"best": as(best("best")), "drop": as(without("drop", 0))})
	w := routing.Single(p)
	got, err := w.Plan(t.Context(), request(t, 3))
	want := routing.Plan{Steps: []routing.Step{{Role: routing.RoleBoth, OnFailure: routing.Retry,
		Ranked: []routing.Scored{{Host: 1}, {Host: 2}}}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := w.Plan(t.Context(), request(t, 1)); !errors.Is(err, routing.ErrNoCandidate) {
		t.Errorf("error is %v", err)
	}
}

package routing

import (
	"context"
	"errors"
	"fmt"

	"octet/routing/index"
)

// Sentinels that a Dispatcher wraps and an Executor acts on.
var (
	// ErrRetryable: the try failed and nothing of it reached the client, so another replica may take the request.
	ErrRetryable = errors.New("routing: may be tried elsewhere")
	// ErrNotTried: nothing was sent (an open breaker, a replica that went away). The next in rank is up, and neither the
	// attempts nor the budget are charged.
	ErrNotTried = errors.New("routing: not tried")
)

// ErrSkipped is what Execute returns when a step of policy Skip failed and no step came after it: nothing was served.
var ErrSkipped = errors.New("routing: step skipped")

// ErrPlan is a plan that the executor is not made for.
var ErrPlan = errors.New("routing: plan does not fit the executor")

// Executor carries out a Plan.
type Executor interface {
	Execute(ctx context.Context, p Plan, d Dispatcher) error
}

// Dispatcher sends one step of a request to one replica and sees it through. attempt counts from 1.
type Dispatcher interface {
	Dispatch(ctx context.Context, s Step, host index.HostID, attempt int) error
}

// SingleExecutor carries out plans of one step.
type SingleExecutor struct {
	Budget      func() bool // asked before every attempt after the first; nil always allows
	MaxAttempts int         // dispatches at most; 0 is one for each ranked replica
}

// Execute tries the ranked replicas in order until one succeeds. It goes on only after ErrRetryable, within MaxAttempts and
// Budget, or after ErrNotTried; it stops when ctx ends. The error is the last one that Dispatch returned.
func (e SingleExecutor) Execute(ctx context.Context, p Plan, d Dispatcher) error {
	if len(p.Steps) != 1 || len(p.Steps[0].Ranked) == 0 {
		return fmt.Errorf("%w: %d steps, want one with a ranking", ErrPlan, len(p.Steps))
	}
	err := e.step(ctx, p.Steps[0], d)
	if err != nil && p.Steps[0].OnFailure == Skip {
		return fmt.Errorf("%w: %w", ErrSkipped, err)
	}
	return err
}

func (e SingleExecutor) step(ctx context.Context, s Step, d Dispatcher) (err error) {
	attempts, granted := 0, true // granted: the next attempt is paid for
	for _, to := range s.Ranked {
		if !granted && !e.afford() {
			return fmt.Errorf("no retry budget left: %w", err)
		}
		granted = true
		last := err
		err = d.Dispatch(ctx, s, to.Host, attempts+1)
		if errors.Is(err, ErrNotTried) && ctx.Err() == nil {
			if last != nil {
				err = last // what was tried says more than what was not
			}
			continue
		}
		attempts, granted = attempts+1, false
		if !e.again(ctx, s, err, attempts) {
			return err
		}
	}
	return err
}

func (e SingleExecutor) afford() bool { return e.Budget == nil || e.Budget() }

// again reports whether the next in rank is up after err.
func (e SingleExecutor) again(ctx context.Context, s Step, err error, attempts int) bool {
	return errors.Is(err, ErrRetryable) && s.OnFailure == Retry && ctx.Err() == nil && (e.MaxAttempts == 0 || attempts < e.MaxAttempts)
}

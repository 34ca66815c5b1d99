package routing

import (
	"context"
	"errors"
	"fmt"

	"octet/routing/index"
)

// Sentinels that a Dispatcher wraps and SequentialExecutor acts on.
var (
	// ErrRetryable: the try failed and nothing of it reached the client, so another replica may take the request.
	ErrRetryable = errors.New("routing: may be tried elsewhere")
	// ErrNotTried: nothing was sent (an open breaker, a replica that went away). The next in rank is up, and neither
	// the attempts nor the budget are charged.
	ErrNotTried = errors.New("routing: not tried")
	// ErrNoBudget: another replica was not tried because Bounds.Budget does not allow it. It is wrapped beside the last
	// error.
	ErrNoBudget = errors.New("routing: no retry budget left")
)

// ErrSkipped is what Execute returns when a step of policy Skip failed and no step came after it: nothing was served.
var ErrSkipped = errors.New("routing: step skipped")

// ErrPlan is a plan that the executor is not made for.
var ErrPlan = errors.New("routing: plan does not fit the executor")

// Bounds are what SequentialExecutor keeps to.
type Bounds struct {
	Budget      func() bool // asked before every attempt of a step after its first; nil always allows
	MaxAttempts int         // dispatches of one step at most; 0 is one for each ranked replica
}

// Dispatcher sends one step of a request to one replica and sees it through: the last step to where the client has its
// answer under way, any other to its end. attempt counts from 1 within a step.
type Dispatcher interface {
	Dispatch(ctx context.Context, s Step, host index.HostID, attempt int) error
}

// SequentialExecutor carries out plans of any number of steps, each when the one before it has ended.
type SequentialExecutor Bounds

// Execute runs the steps in order. Each tries its ranked replicas in order until one succeeds: it goes on only after
// ErrRetryable, within MaxAttempts and Budget, or after ErrNotTried, and stops when ctx ends. A step that fails ends
// the plan with its last error, unless its policy is Skip and ctx goes on: then the next step runs without it. If the
// last step is skipped, nothing was served: ErrSkipped.
func (e SequentialExecutor) Execute(ctx context.Context, p Plan, d Dispatcher) error {
	if len(p.Steps) == 0 {
		return fmt.Errorf("%w: no step", ErrPlan)
	}
	for i, s := range p.Steps {
		if len(s.Ranked) == 0 {
			return fmt.Errorf("%w: step %d has no ranking", ErrPlan, i)
		}
		err := Bounds(e).run(ctx, s, d)
		switch last := i == len(p.Steps)-1; {
		case err == nil:
		case s.OnFailure != Skip || ctx.Err() != nil:
			return err
		case last:
			return fmt.Errorf("%w: %w", ErrSkipped, err)
		}
	}
	return nil
}

// run tries the ranked replicas of s until one succeeds. The error is that of the last one that was tried.
func (b Bounds) run(ctx context.Context, s Step, d Dispatcher) (err error) {
	attempts, granted := 0, true // granted: the next attempt is paid for
	for _, to := range s.Ranked {
		if !granted && !b.afford() {
			return fmt.Errorf("%w: %w", ErrNoBudget, err)
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
		if !b.again(ctx, s, err, attempts) {
			return err
		}
	}
	return err
}

func (b Bounds) afford() bool { return b.Budget == nil || b.Budget() }

// again returns true if the next in rank is up after err.
func (b Bounds) again(ctx context.Context, s Step, err error, attempts int) bool {
	return errors.Is(err, ErrRetryable) && ctx.Err() == nil && attempts < s.tries() &&
		(b.MaxAttempts == 0 || attempts < b.MaxAttempts)
}

// tries returns how many replicas the step may be tried on.
func (s *Step) tries() int {
	switch {
	case s.Tries > 0:
		return s.Tries
	case s.OnFailure == Retry:
		return len(s.Ranked)
	}
	return 1
}

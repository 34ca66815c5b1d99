package shadow

import (
	"context"
	"errors"

	"octet/engine"
	"octet/gateway/place"
	"octet/scheduler"
)

// outcome names how a shadow ended, for the metric.
func outcome(err error) string {
	switch {
	case err == nil:
		return "compared"
	case errors.Is(err, errCrowd):
		return "crowded"
	case errors.Is(err, errNoPlace), errors.Is(err, scheduler.ErrRefused):
		return "no_place"
	case errors.Is(err, place.ErrPreempted):
		return "preempted"
	case errors.Is(err, errForgone), errors.Is(err, errEnded), errors.Is(err, context.Canceled):
		return "forgone"
	case errors.Is(err, errLong), errors.Is(err, engine.ErrTooLarge):
		return "too_long"
	case errors.Is(err, errSlow), errors.Is(err, engine.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "failed"
}

package cmd

import (
	"context"
	"time"

	"octet/internal/contain"
)

// periodically calls do once every period, until ctx ends. What do is late for is not made up for.
func periodically(ctx context.Context, period time.Duration, do func(now time.Time)) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			contain.Do(contain.Task, func() { do(now) })
		}
	}
}

package contain

import (
	"context"
	"time"
)

// Every calls do once in every period, until ctx ends. A round that is late is not made up for; one that panics is
// contained as a Task.
func Every(ctx context.Context, period time.Duration, do func(now time.Time)) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			Do(Task, func() { do(now) })
		}
	}
}

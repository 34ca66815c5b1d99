package cmd

import (
	"context"
	"time"
)

// watchEvery is how often the load of the specialists is looked at.
const watchEvery = 100 * time.Millisecond

// watchLoad escalates until ctx ends.
func (h *house) watchLoad(ctx context.Context) {
	periodically(ctx, watchEvery, h.server.Escalate)
}

package apptest

import (
	"context"
	"sync/atomic"

	"octet/routing/events"
)

// mortal is the Publisher of an engine that can crash: from then on it publishes nothing, no Shutdown either.
type mortal struct {
	events.Publisher
	dead *atomic.Bool
}

// Publish implements events.Publisher.
func (m mortal) Publish(ctx context.Context, b events.Batch) error {
	if m.dead.Load() {
		return nil
	}
	return m.Publisher.Publish(ctx, b)
}

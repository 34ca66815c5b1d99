package events

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	backoffFirst = 20 * time.Millisecond
	backoffMost  = 2 * time.Second
)

// Backoff is the pause between two tries of one connection: doubled with each failure up to two seconds, and between
// half and all of that at random, so that gateways do not come back together.
type Backoff struct{ next time.Duration }

// NewBackoff returns a Backoff at its shortest.
func NewBackoff() *Backoff { return &Backoff{next: backoffFirst} }

// Reset makes the next pause the shortest again.
func (b *Backoff) Reset() { b.next = backoffFirst }

// Pause waits, or until ctx ends.
func (b *Backoff) Pause(ctx context.Context) {
	t := time.NewTimer(b.next/2 + rand.N(b.next/2+1))
	defer t.Stop()
	b.next = min(b.next*2, backoffMost)
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

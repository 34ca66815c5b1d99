package lease

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"octet/routing/peers"
)

// Sendable returns nil where a message of n bytes may be sent now, else ErrTooLong or ErrAway.
func (k *Keeper) Sendable(n int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case int64(n) > k.config.MaxMessage:
		k.stats.TooLong++
		return fmt.Errorf("%w: %d bytes, of at most %d", ErrTooLong, n, k.config.MaxMessage)
	case k.why != nil:
		return fmt.Errorf("%w: %w", peers.ErrAway, k.why)
	case k.store == nil || time.Now().After(k.until):
		return fmt.Errorf("%w: no claim is in force", peers.ErrAway)
	}
	return nil
}

// Push hands a message to Run, which keeps it. It never waits: what the receiver is too slow for is dropped, the oldest
// first, and so is what is too long, or comes while there is no claim.
func (k *Keeper) Push(message []byte) {
	now := time.Now()
	k.mu.Lock()
	first := false
	switch {
	case int64(len(message)) > k.config.MaxMessage:
		k.stats.TooLong++
	case k.why == nil:
		dropped := k.inbox.push(message, now)
		first = dropped > 0 && k.stats.Dropped == 0
		k.stats.Dropped += uint64(dropped)
	}
	k.mu.Unlock()
	signal(k.wake)
	if first {
		k.config.Log.Warn("messages of other gateways come faster than they are taken; the oldest are dropped",
			"name", k.config.Name, "waiting", maxInbox)
	}
}

// deliver tells on what is in the inbox, until ctx ends.
func (k *Keeper) deliver(ctx context.Context, on peers.Events) {
	for ctx.Err() == nil {
		k.mu.Lock()
		switch {
		case len(k.inbox.news) > 0:
			why := k.inbox.news[0]
			k.inbox.news = k.inbox.news[1:]
			k.mu.Unlock()
			on.Away(why)
		case len(k.inbox.messages) > 0:
			m := k.inbox.shift()
			k.mu.Unlock()
			on.Message(m.text, m.came)
		default:
			k.mu.Unlock()
			select {
			case <-k.wake:
			case <-ctx.Done():
			}
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is signalled already
	}
}

// pause waits, and reports false where ctx ended meanwhile. It ends early by kick, which may be nil.
func pause(ctx context.Context, d time.Duration, kick <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-kick:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

const (
	backoffFirst = 50 * time.Millisecond
	backoffMost  = time.Second
)

// backoff is the bound of the pause before; zero before the first.
type backoff time.Duration

// next returns the next pause, between half and all of a bound that doubles.
func (b *backoff) next() time.Duration {
	*b = backoff(min(max(2*time.Duration(*b), backoffFirst), backoffMost))
	return time.Duration(*b)/2 + rand.N(time.Duration(*b)/2)
}

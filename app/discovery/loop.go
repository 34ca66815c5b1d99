package discovery

import (
	"context"
	"time"
)

// Bounds of Loop.
const (
	mostSettle = time.Second // that changes which go on are put off
	idleTimes  = 9           // as long as a round took, the next one waits: rounds take a tenth of the time at most
	mostIdle   = time.Second // but not longer
)

// Loop calls round when something has changed and then nothing for as long as settle says, or after a second; and when
// the time that round returned last has passed, unless it is 0. It returns when ctx ends.
func Loop(ctx context.Context, changed <-chan struct{}, settle func() time.Duration,
	round func(context.Context) time.Duration) {
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			quiet(ctx, changed, settle())
		case <-due:
		}
		if ctx.Err() != nil {
			return
		}
		began := time.Now()
		next := round(ctx)
		rest(ctx, min(idleTimes*time.Since(began), mostIdle))
		due = nil
		if next > 0 {
			due = time.After(next)
		}
	}
}

// quiet waits until nothing has changed for so long, or mostSettle has passed.
func quiet(ctx context.Context, changed <-chan struct{}, settle time.Duration) {
	most := time.After(mostSettle)
	for settle > 0 {
		select {
		case <-ctx.Done():
			return
		case <-most:
			return
		case <-changed:
		case <-time.After(settle):
			return
		}
	}
}

// rest waits for so long, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

package lease

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"octet/internal/contain"
	"octet/routing/peers"
)

// claim is a link's hold on its name. One goroutine uses it at a time: Claim's, then the one that renews.
type claim struct {
	by    Incarnation
	lease time.Duration
	n     uint64 // stamps that were tried
	held  Held   // our stamp, or what the next one is to replace; zero: nothing
	rival rival
}

// rival is a holder that is not us.
type rival struct {
	held    Held
	since   time.Time // when it was first seen as it is
	renewed bool      // it was seen to change
}

// try makes or renews the claim, and returns until when it holds. It fails with ErrTaken where another gateway has the
// name, which is none where its stamp has been as it is for a lease, and with ErrAway where the store fails.
func (c *claim) try(ctx context.Context, s Store) (until time.Time, err error) {
	begun := time.Now()
	switch err := contained(func() error { return c.advance(ctx, s) }); {
	case err == nil:
		c.rival = rival{}
		return begun.Add(c.term(s)), nil
	case errors.Is(err, peers.ErrTaken):
		return time.Time{}, err
	default:
		c.rival = rival{} // it may have been unable to renew
		return time.Time{}, fmt.Errorf("%w: %w", peers.ErrAway, err)
	}
}

// advance swaps its stamp in, at the second try for what it sees there.
func (c *claim) advance(ctx context.Context, s Store) error {
	for range 3 {
		c.n++
		held, err := s.Swap(ctx, c.held, c.by.stamp(c.lease, c.n))
		if err == nil {
			c.held = held
			return nil
		}
		if !errors.Is(err, ErrOther) {
			return err
		}
		seen, err := s.Look(ctx)
		if err != nil {
			return err
		}
		if seen.Revision != 0 && !c.by.wrote(seen) && !c.dead(seen) {
			c.held = Held{}
			return peers.ErrTaken
		}
		c.held = seen
	}
	return fmt.Errorf("%w: it changes faster than it can be claimed", peers.ErrTaken)
}

// dead reports whether what is seen has not changed for as long as its holder may be silent.
func (c *claim) dead(seen Held) bool {
	if c.rival.held != seen {
		c.rival = rival{held: seen, since: time.Now(), renewed: c.rival.held.Revision != 0}
	}
	return time.Since(c.rival.since) >= max(c.lease, seen.term())
}

// term is how long a claim holds after it was renewed.
func (c *claim) term(s Store) time.Duration {
	if life := s.Life(); life > 0 {
		return min(life, c.lease)
	}
	return c.lease
}

// release gives the name back, if it is ours.
func (c *claim) release(ctx context.Context, s Store) error {
	err := contained(func() error {
		seen, err := s.Look(ctx)
		if err != nil || !c.by.wrote(seen) {
			return err
		}
		return s.Drop(ctx, seen)
	})
	c.held, c.rival = Held{}, rival{}
	return err
}

// contained calls ask, and returns a panic, as of a malformed reply, as an error that has the stack.
func contained(ask func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			contain.Tally(contain.Consumer)
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return ask()
}

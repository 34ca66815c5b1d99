package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"octet/routing/peers"
)

// claimPolls is how often Claim looks at a name that may be another's, in one lease.
const claimPolls = 10

// Keeper keeps one name. Claim and Run are called one after the other, and the rest at any time.
type Keeper struct {
	config Config
	claim  claim
	kick   chan struct{} // the claim is to be tried now
	wake   chan struct{} // the inbox has something

	mu    sync.Mutex
	store Store     // nil while there is no connection
	until time.Time // the claim holds
	why   error     // ErrAway or ErrTaken; nil while all is well
	fears uint64    // how often Doubt was called
	inbox inbox
	stats Stats
}

// Stats counts what did not arrive.
type Stats struct {
	Dropped uint64 // messages that came faster than they were taken
	TooLong uint64 // messages, sent or received, beyond MaxMessage
}

// NewKeeper returns a Keeper of a new incarnation. It fails with ErrConfig.
func NewKeeper(c Config) (*Keeper, error) {
	c, err := c.Filled()
	if err != nil {
		return nil, err
	}
	k := &Keeper{config: c, kick: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
	k.claim.lease = c.Lease
	_, _ = rand.Read(k.claim.by[:]) // never fails
	k.why = fmt.Errorf("%w: the name is not claimed", peers.ErrAway)
	return k, nil
}

// Config returns the configuration with its defaults.
func (k *Keeper) Config() Config { return k.config }

// Incarnation returns this life of the link.
func (k *Keeper) Incarnation() Incarnation { return k.claim.by }

// Stats returns what was counted since the Keeper was made.
func (k *Keeper) Stats() Stats {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stats
}

// Claim implements peers.Link over a store.
func (k *Keeper) Claim(ctx context.Context, s Store) error {
	for {
		until, err := k.ask(ctx, s, k.config.Timeout)
		if err == nil {
			k.mu.Lock()
			k.until, k.why = until, nil
			k.mu.Unlock()
			return nil
		}
		if errors.Is(err, peers.ErrTaken) && !k.claim.rival.renewed {
			if pause(ctx, k.config.Lease/claimPolls, nil) {
				continue
			}
			err = fmt.Errorf("%w: %w", peers.ErrAway, context.Cause(ctx))
		}
		k.mu.Lock()
		k.why = err
		k.mu.Unlock()
		return err
	}
}

func (k *Keeper) ask(ctx context.Context, s Store, most time.Duration) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return k.claim.try(ctx, s)
}

// Listen is one connection to the store. It calls up once messages arrive and the store can be asked, and calls Push
// with each message, until ctx ends or the connection does. The store is good until Listen returns.
type Listen func(ctx context.Context, up func(Store)) error

// Run implements peers.Link over connections that it makes one after the other.
func (k *Keeper) Run(ctx context.Context, listen Listen, on peers.Events) {
	k.mu.Lock()
	k.inbox = inbox{}
	if k.why != nil {
		k.inbox.tell(k.why)
	}
	k.mu.Unlock()
	open, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	var connection, renewal sync.WaitGroup
	connection.Go(func() { k.connect(open, listen) })
	renewal.Go(func() { k.renew(ctx) })
	k.deliver(ctx, on)
	renewal.Wait() // it releases the name by the connection
	disconnect()
	connection.Wait()
}

// connect listens until ctx ends.
func (k *Keeper) connect(ctx context.Context, listen Listen) {
	var wait backoff
	for ctx.Err() == nil {
		err := k.listen(ctx, listen, &wait)
		k.down(err)
		pause(ctx, wait.next(), nil)
	}
}

func (k *Keeper) listen(ctx context.Context, listen Listen, wait *backoff) error {
	return contained(func() error {
		return listen(ctx, func(s Store) {
			*wait = 0
			k.mu.Lock()
			defer k.mu.Unlock()
			k.store = s
			signal(k.kick)
		})
	})
}

// down tells that there is no connection.
func (k *Keeper) down(why error) {
	k.mu.Lock()
	k.store = nil
	k.mu.Unlock()
	k.Doubt(why)
}

// Doubt tells that something was not handed over. The claim is tried at once: until that succeeds, the store is away.
func (k *Keeper) Doubt(why error) {
	k.mu.Lock()
	k.fears++
	k.settle(time.Time{}, fmt.Errorf("%w: %w", peers.ErrAway, why))
	k.mu.Unlock()
	signal(k.kick)
}

// renew keeps the claim until ctx ends, and then gives it back.
func (k *Keeper) renew(ctx context.Context) {
	var wait backoff
	every := k.config.Lease / 3
	for next := every; ctx.Err() == nil; next = every {
		k.mu.Lock()
		select {
		case <-k.kick: // it is tried now
		default:
		}
		s, fears := k.store, k.fears
		if s == nil && k.why == nil && time.Now().After(k.until) {
			k.settle(time.Time{}, fmt.Errorf("%w: the claim was not renewed in time", peers.ErrAway))
		}
		k.mu.Unlock()
		if s != nil {
			until, err := k.ask(ctx, s, min(k.config.Timeout, every))
			every = k.claim.term(s) / 3
			switch {
			case err == nil:
				wait, next = 0, every
			case !errors.Is(err, peers.ErrTaken):
				next = min(wait.next(), every)
			}
			if ctx.Err() == nil {
				k.answered(fears, until, err)
			}
		}
		pause(ctx, next, k.kick)
	}
	k.release(ctx)
}

func (k *Keeper) release(ctx context.Context) {
	k.mu.Lock()
	s := k.store
	k.why = fmt.Errorf("%w: the link has ended", peers.ErrAway)
	k.mu.Unlock()
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.config.Timeout)
	defer cancel()
	if err := k.claim.release(ctx, s); err != nil {
		k.config.Log.Warn("the gateway's name is not given back, and is free after a lease", "name", k.config.Name,
			"err", err)
	}
}

// answered takes over what an attempt has come to that began after so many doubts. A success says nothing once another
// has come: the store may have answered before it was lost. It is tried again.
func (k *Keeper) answered(fears uint64, until time.Time, why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if why != nil || fears == k.fears {
		k.settle(until, why)
	}
}

// settle takes over how things stand, and tells it where that is new. Under mu.
func (k *Keeper) settle(until time.Time, why error) {
	news := (k.why == nil) != (why == nil) || errors.Is(k.why, peers.ErrTaken) != errors.Is(why, peers.ErrTaken)
	k.until, k.why = until, why
	if news {
		k.inbox.tell(why)
		signal(k.wake)
	}
}

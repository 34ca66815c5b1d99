package adapters

import (
	"context"
	"errors"
	"time"
)

// Hold is a request's hold on an adapter of a replica. While it is there the adapter is not unloaded. The zero Hold
// holds nothing.
type Hold struct {
	keeper *Keeper
	claim  *Claim
}

// Ask is what a request asks a Keeper for.
type Ask struct {
	Host     uint16
	Served   string // the name of its edition in the engines
	Priority int    // larger is more urgent
	// how long the adapter is waited for at most; 0 is for as long as the context lasts
	Most   time.Duration
	AtOnce bool // it is not waited for: where it is not loaded it is loaded for requests to come
}

// Hold returns a hold on an adapter of a replica, and whether it was there at once. Where it is not loaded it is
// loaded, and Hold waits for it, unless ask.AtOnce: until ctx ends, and for ask.Most, if that is above 0. The error is
// a *Refusal, or ctx's.
func (k *Keeper) Hold(ctx context.Context, ask Ask) (h Hold, atOnce bool, err error) {
	now := time.Now()
	k.mu.Lock()
	k.noteRest(ask.Host)
	claim, err := k.p.Claim(ask.Host, ask.Served, ask.Priority, now)
	switch {
	case err != nil:
		k.counts.Refused++
		k.mu.Unlock()
		return Hold{}, true, err
	case claim.held:
		k.counts.Found++
		k.mu.Unlock()
		return Hold{k, claim}, true, nil
	}
	if k.p.unseen(ask.Host) && !k.closed && !k.looking[ask.Host] {
		k.looking[ask.Host] = true
		k.running.Go(func() { k.look(ask.Host) })
	}
	k.step(ask.Host, now)
	if ask.AtOnce {
		k.counts.Late++
		k.p.Release(claim, now)
		err = &Refusal{Adapter: claim.at.e.Name, Reason: ErrLate, RetryAfter: soon}
	}
	k.publish()
	k.mu.Unlock()
	if err != nil {
		return Hold{}, true, err
	}
	if err := k.await(ctx, claim, ask); err != nil {
		return Hold{}, false, err
	}
	return Hold{k, claim}, false, nil
}

// HoldLoaded returns a hold on an adapter of a replica if it is loaded there; nothing is loaded for it.
func (k *Keeper) HoldLoaded(host uint16, served string) (Hold, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, h := k.p.served[served], k.p.host(host)
	if e == nil || h == nil {
		return Hold{}, false
	}
	if c := h.at(e); c == nil || c.state != loaded {
		return Hold{}, false
	}
	claim, err := k.p.Claim(host, served, 0, time.Now())
	if err != nil {
		return Hold{}, false
	}
	return Hold{k, claim}, true
}

// await waits until a claim is granted.
func (k *Keeper) await(ctx context.Context, claim *Claim, ask Ask) (err error) {
	if ask.Most > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, ask.Most, &Refusal{Adapter: claim.at.e.Name, Reason: ErrLate,
			RetryAfter: ask.Most})
		defer cancel()
	}
	select {
	case err = <-claim.told:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err == nil:
		k.counts.Waited++
		return nil
	case errors.Is(err, ErrLate) || ctx.Err() != nil:
		k.counts.Late++
	default:
		k.counts.Refused++
	}
	k.p.Release(claim, time.Now())
	k.step(ask.Host, time.Now())
	k.publish()
	return err
}

// Held reports whether h holds something.
func (h *Hold) Held() bool { return h.claim != nil }

// Release gives the adapter back. Idempotent.
func (h *Hold) Release() {
	if h.claim == nil {
		return
	}
	k, claim := h.keeper, h.claim
	*h = Hold{}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	k.p.Release(claim, now)
	k.step(claim.at.h.id, now)
	k.publish()
}

package adapters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// perform has engines asked for what the Placement has decided. mu is held.
func (k *Keeper) perform(actions []Action) {
	for _, a := range actions {
		m := k.members[a.Host]
		if k.closed || m.Engine == nil {
			continue
		}
		under := k.newLoad()
		if a.Load {
			k.loads[a.Host] = under
		}
		k.running.Go(func() { k.carryOut(under, a, m) })
	}
}

// load is a load, or an unload, that an engine is asked for.
type load struct {
	ctx     context.Context // of the question, but for its time
	cut     context.CancelCauseFunc
	timeout time.Duration // of each question
}

// newLoad returns one that ends with the Keeper. mu is held.
func (k *Keeper) newLoad() *load {
	ctx, cut := context.WithCancelCause(k.ctx)
	return &load{ctx, cut, k.p.rules.Timeout}
}

// errUnwell cuts a load whose engine is not well.
var errUnwell = errors.New("no answer")

// carryOut asks an engine for one thing, and tells the Placement how it ended.
func (k *Keeper) carryOut(under *load, a Action, m Member) {
	defer under.cut(nil)
	began := time.Now()
	r := k.ask(under, a, m)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.loads[a.Host] == under {
		delete(k.loads, a.Host)
	}
	now := time.Now()
	if a.Load {
		k.count(a, m, r, now.Sub(began))
		k.p.Loaded(a.Host, a.Name, r, now)
		k.follow(a, now)
	} else {
		if r.Err != nil {
			k.complain(now, "adapter not unloaded", a, m, r.Err)
		}
		k.p.Unloaded(a.Host, a.Name, r, now)
	}
	k.publish()
	k.step(a.Host, now)
}

// follow has the hosts go on that waited for the end of a load elsewhere: it may have been the adapter's first. mu is
// held.
func (k *Keeper) follow(a Action, now time.Time) {
	for host := range k.members {
		if host != a.Host {
			k.step(host, now)
		}
	}
}

// count counts and logs the end of a load. mu is held.
func (k *Keeper) count(a Action, m Member, r Result, took time.Duration) {
	if r.Err == nil {
		k.counts.Loads++
		k.log.Info("adapter loaded", "replica", m.Name, "adapter", a.Name, "took", took.Round(time.Millisecond))
		return
	}
	k.counts.Failures++
	if k.ctx.Err() == nil {
		k.complain(time.Now(), "adapter not loaded", a, m, r.Err)
	}
}

// Loads and unloads that fail are logged so many times in so long; of the others there is a count.
const (
	mostComplaints = 20
	complaintsOver = time.Minute
)

// complaints bound how much is logged.
type complaints struct {
	since time.Time
	made  int // since then
	kept  int // not logged since the last that was
}

// complain logs that an engine did not do what it was asked for. mu is held.
func (k *Keeper) complain(now time.Time, what string, a Action, m Member, err error) {
	c := &k.complaints
	if now.Sub(c.since) >= complaintsOver {
		c.since, c.made = now, 0
	}
	if c.made++; c.made > mostComplaints {
		c.kept++
		return
	}
	k.log.Warn(what, "replica", m.Name, "adapter", a.Name, "error", err, "not_logged", c.kept)
	c.kept = 0
}

// ask asks an engine for one thing. What it does not say is found out by what it lists afterwards.
func (k *Keeper) ask(under *load, a Action, m Member) Result {
	timeout := under.timeout
	ctx, cancel := context.WithTimeout(under.ctx, timeout)
	defer cancel()
	err := protected(func() error {
		if a.Load {
			return m.Engine.Load(ctx, a.Name, a.Path)
		}
		return m.Engine.Unload(ctx, a.Name)
	})
	if err != nil && errors.Is(context.Cause(under.ctx), errUnwell) {
		err = errUnwell
	}
	if errors.Is(err, ErrUnsupported) {
		return Result{Err: err}
	}
	has, listErr := k.lists(a.Name, m, timeout)
	switch {
	case listErr != nil:
		return Result{Err: a.diedOf(err), Unsure: err != nil}
	case has == a.Load:
		return Result{Listed: has}
	case err == nil && m.Lists:
		return Result{Err: ErrUnlisted}
	case err != nil && !k.well(m, timeout):
		err = a.diedOf(err)
	}
	return Result{Err: err, Unsure: err != nil && !m.Lists}
}

// diedOf returns err with ErrDied, if a was a load that failed and of which the engine was told.
func (a Action) diedOf(err error) error {
	if err == nil || !a.Load || errors.Is(err, ErrAway) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDied, err)
}

// well reports whether an engine says that it is. One whose worker has died may answer all other questions, and say of
// the load only that it could not be done.
func (k *Keeper) well(m Member, timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(k.ctx, timeout)
	defer cancel()
	return protected(func() error { return m.Engine.Probe(ctx) }) == nil
}

// lists reports whether an engine lists an adapter.
func (k *Keeper) lists(name string, m Member, timeout time.Duration) (has bool, err error) {
	ctx, cancel := context.WithTimeout(k.ctx, timeout)
	defer cancel()
	var all []Listed
	err = protected(func() (err error) {
		all, err = m.Engine.List(ctx)
		return err
	})
	return slices.ContainsFunc(all, func(l Listed) bool { return l.Name == name }), err
}

// protected makes an error of a panic, so that each load and unload has an end.
func protected(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("adapters: panic: %v", v)
		}
	}()
	return f()
}

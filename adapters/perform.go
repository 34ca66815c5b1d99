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
		timeout := k.p.rules.Timeout
		k.running.Go(func() { k.carryOut(a, m, timeout) })
	}
}

// carryOut asks an engine for one thing, and tells the Placement how it ended.
func (k *Keeper) carryOut(a Action, m Member, timeout time.Duration) {
	began := time.Now()
	r := k.ask(a, m, timeout)
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if a.Load {
		k.count(a, m, r, now.Sub(began))
		k.p.Loaded(a.Host, a.Name, r, now)
	} else {
		if r.Err != nil {
			k.log.Warn("adapter not unloaded", "replica", m.Name, "adapter", a.Name, "error", r.Err)
		}
		k.p.Unloaded(a.Host, a.Name, r, now)
	}
	k.publish()
	k.perform(k.p.StepHost(a.Host, now))
}

// count counts and logs the end of a load. mu is held.
func (k *Keeper) count(a Action, m Member, r Result, took time.Duration) {
	if r.Err == nil {
		k.counts.Loads++
		k.log.Info("adapter loaded", "replica", m.Name, "adapter", a.Name, "took", took.Round(time.Millisecond))
		return
	}
	k.counts.Failures++
	if !errors.Is(r.Err, ErrUnsupported) && k.ctx.Err() == nil {
		k.log.Warn("adapter not loaded", "replica", m.Name, "adapter", a.Name, "error", r.Err)
	}
}

// ask asks an engine for one thing. What it does not say is found out by what it lists afterwards.
func (k *Keeper) ask(a Action, m Member, timeout time.Duration) Result {
	ctx, cancel := context.WithTimeout(k.ctx, timeout)
	defer cancel()
	err := protected(func() error {
		if a.Load {
			return m.Engine.Load(ctx, a.Name, a.Path)
		}
		return m.Engine.Unload(ctx, a.Name)
	})
	if errors.Is(err, ErrUnsupported) {
		return Result{Err: err}
	}
	has, listErr := k.lists(a.Name, m, timeout)
	switch {
	case listErr != nil:
		return Result{Err: err, Unsure: err != nil}
	case has == a.Load:
		return Result{Listed: has}
	case err == nil && m.Lists:
		return Result{Err: ErrUnlisted}
	}
	return Result{Err: err, Unsure: err != nil && !m.Lists}
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

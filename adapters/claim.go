package adapters

import (
	"slices"
	"time"
)

// Claim is one request's hold on an adapter of a host. While it is held the adapter is not unloaded.
type Claim struct {
	at       *placed
	priority int
	since    time.Time
	held     bool
	gone     int // placed.gone, as it was held
	over     bool
	told     chan error // nil if it was granted at once; else gets nil or a *Refusal, once
}

// Claim asks for an edition, by its name in the engines, on a host. The Claim is held at once where the edition is
// loaded; else it waits, and what becomes of it is told on its channel. The error is a *Refusal.
func (p *Placement) Claim(id uint16, served string, priority int, now time.Time) (*Claim, error) {
	e, h := p.served[served], p.host(id)
	switch {
	case e == nil:
		return nil, &Refusal{Adapter: served, Reason: ErrReplaced}
	case h == nil:
		return nil, &Refusal{Adapter: e.Name, Reason: ErrGone}
	}
	e.use.add(now, p.rules.Memory)
	c := h.place(e)
	claim := &Claim{at: c, priority: priority, since: now}
	if c.state == loaded {
		claim.hold()
		e.claims++
		return claim, nil
	}
	if err := p.mayWait(c, now); err != nil {
		h.forget(c)
		return nil, err
	}
	claim.told = make(chan error, 1)
	c.waiting = append(c.waiting, claim)
	e.claims++
	return claim, nil
}

// mayWait returns a *Refusal if no claim may wait for c.
func (p *Placement) mayWait(c *placed, now time.Time) error {
	switch {
	case len(c.waiting) >= p.rules.Waiting:
		return &Refusal{Adapter: c.e.Name, Reason: ErrCrowded, RetryAfter: time.Second}
	case c.state == loading:
		return nil
	case c.e.retired:
		return &Refusal{Adapter: c.e.Name, Reason: ErrReplaced}
	case !c.h.up || c.h.rests:
		return &Refusal{Adapter: c.e.Name, Reason: ErrGone}
	case c.e.Path == "" || !c.h.able:
		return &Refusal{Adapter: c.e.Name, Reason: ErrNowhere}
	case c.state == absent && now.Before(c.retry):
		return &Refusal{Adapter: c.e.Name, Reason: ErrLoad, RetryAfter: c.retry.Sub(now), Detail: c.failure}
	}
	if barred := c.e.barredFor(now); barred != nil && c.state == absent {
		return barred
	}
	return nil
}

// Release ends a claim, held or waiting. Idempotent.
func (p *Placement) Release(claim *Claim, now time.Time) {
	if claim.over {
		return
	}
	claim.over = true
	c := claim.at
	c.e.claims--
	if claim.held {
		if c.users--; c.users < 0 {
			panic("adapters: " + c.e.served + " is released more often than it is claimed")
		}
		c.since = now
		return
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(o *Claim) bool { return o == claim })
	c.h.forget(c)
}

// hold makes c held.
func (c *Claim) hold() {
	c.held, c.gone = true, c.at.gone
	c.at.users++
}

// outlived reports whether what c holds has gone since: what is there by now, if anything, was loaded later.
func (c *Claim) outlived() bool { return c.gone != c.at.gone }

// grant gives c to all that wait for it.
func (c *placed) grant() {
	for _, claim := range c.waiting {
		claim.hold()
		claim.told <- nil
	}
	c.waiting = nil
}

// deny refuses c to all that wait for it. Their claims are over.
func (c *placed) deny(why *Refusal) {
	for _, claim := range c.waiting {
		claim.over = true
		c.e.claims--
		claim.told <- why
	}
	c.waiting = nil
}

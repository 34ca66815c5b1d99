package adapters

import (
	"fmt"
	"slices"
	"time"
)

// MarkLoaded notes that host has loaded adapter. Idempotent; ErrFull when a bound is reached, and then nothing changes.
func (r *Residency) MarkLoaded(host uint16, adapter string) error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	return r.publish(host, with(r.On(host), adapter))
}

// MarkUnloaded notes that host no longer has adapter. Idempotent.
func (r *Residency) MarkUnloaded(host uint16, adapter string) {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	if names := r.On(host); slices.Contains(names, adapter) {
		r.mustPublish(host, without(names, adapter))
	}
}

// Check returns which invariant of p does not hold; nil if all do.
func (p *Placement) Check() error {
	loadedOn, claims := map[*edition]int{}, map[*edition]int{}
	for _, h := range p.hosts {
		busy := 0
		for _, c := range h.copies {
			if err := c.check(); err != nil {
				return err
			}
			if c.state == loaded {
				loadedOn[c.e]++
			}
			if c.state == loading || c.state == unloading {
				busy++
				if h.busy != c {
					return fmt.Errorf("%s is %s on %d, which is not busy with it", c.e.served, stateNames[c.state],
						h.id)
				}
			}
			claims[c.e] += c.users + len(c.waiting)
		}
		if busy > 1 || busy == 0 && h.busy != nil {
			return fmt.Errorf("%d does %d things at once", h.id, busy)
		}
	}
	for _, e := range p.editions {
		if e.loading > 1 && e.ready.IsZero() {
			return fmt.Errorf("%s is loaded by %d hosts, and none has had it", e.served, e.loading)
		}
		if e.loaded != loadedOn[e] {
			return fmt.Errorf("%s is loaded on %d hosts, and counts %d", e.served, loadedOn[e], e.loaded)
		}
		if e.claims < claims[e] {
			return fmt.Errorf("%s has %d claims, and counts %d", e.served, claims[e], e.claims)
		}
		if p.served[e.served] != e {
			return fmt.Errorf("%s is not known by its name", e.served)
		}
	}
	for _, a := range p.declared {
		if e := p.force[a.Name]; e == nil || e.retired {
			return fmt.Errorf("%s has no edition in force", a.Name)
		}
	}
	return nil
}

// CheckServing returns which adapter a host could hold for which requests are not sent there that may go to no other;
// nil if there is none.
func (p *Placement) CheckServing(now time.Time) error {
	for _, e := range p.force {
		if now.Before(e.refused) || now.Before(e.barred) || e.Path == "" {
			continue
		}
		for _, h := range p.hosts {
			c := h.at(e)
			if !h.up || !h.able || h.rests || c != nil && now.Before(c.retry) {
				continue
			}
			if hosts, _ := p.Serving(e.served, func(o uint16) bool { return o == h.id }, now); len(hosts) == 0 {
				return fmt.Errorf("nothing is sent to %d for %s, which is %v there", h.id, e.served, c)
			}
		}
	}
	return nil
}

func (c *placed) check() error {
	switch {
	case c.users < 0:
		return fmt.Errorf("%s has %d users on %d", c.e.served, c.users, c.h.id)
	case c.state == unloading && c.users > 0:
		return fmt.Errorf("%s is unloaded on %d under %d users", c.e.served, c.h.id, c.users)
	case c.state == loaded && len(c.waiting) > 0:
		return fmt.Errorf("%d wait for %s on %d, where it is loaded", len(c.waiting), c.e.served, c.h.id)
	case c.e.retired && len(c.waiting) > 0 && c.state == absent:
		return fmt.Errorf("%d wait for %s on %d, which is replaced", len(c.waiting), c.e.served, c.h.id)
	}
	return nil
}

// Tally counts what a Placement has done so far.
func (p *Placement) Tally() [Causes]uint64 { return p.unloads }

// Spare returns how many slots of a host are free.
func (p *Placement) Spare(id uint16) int { return p.host(id).spare(&p.rules) }

// State returns how far an edition is on a host, and its users.
func (p *Placement) State(id uint16, served string) (string, int) {
	h, e := p.host(id), p.served[served]
	if h == nil || e == nil || h.at(e) == nil {
		return stateNames[absent], 0
	}
	c := h.at(e)
	return stateNames[c.state], c.users
}

// Told returns what has become of a claim: nil while it waits.
func (c *Claim) Outcome() (held bool, err error) {
	select {
	case err := <-c.told:
		return err == nil, err
	default:
		return c.held && c.told == nil, nil
	}
}

// Now is a time to begin with.
var Now = time.Unix(1_000_000, 0)

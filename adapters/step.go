package adapters

import (
	"cmp"
	"slices"
	"time"
)

// Step returns what engines are to be asked for now. Each Action's end is told by Loaded or Unloaded.
func (p *Placement) Step(now time.Time) []Action {
	p.move(now)
	for _, e := range p.editions {
		p.weigh(e, now)
		p.keep(e, now)
	}
	var actions []Action
	for _, h := range p.hosts {
		actions = p.step(h, now, actions)
	}
	p.forgetRetired()
	return actions
}

// StepHost is Step for what requests ask of one host.
func (p *Placement) StepHost(id uint16, now time.Time) []Action {
	if h := p.host(id); h != nil {
		return p.step(h, now, nil)
	}
	return nil
}

// step decides what h is to do next, if it does nothing yet: go down to its slots, load what requests wait for, load
// what is to be kept, and unload what is not needed, in this order.
func (p *Placement) step(h *host, now time.Time, actions []Action) []Action {
	if h.busy != nil || !h.up || h.rests || !h.able || h.unseen() {
		return actions
	}
	h.refill(&p.rules, now)
	h.rested(now)
	spare := h.spare(&p.rules)
	if spare < 0 {
		if v := p.victim(h, nil, now); v != nil {
			return append(actions, p.unload(v, Overfull, now))
		}
	}
	if want := p.firstWant(h, now); want != nil {
		if spare > 0 {
			return append(actions, p.load(want, now))
		}
		if v := p.makeRoom(h, want, now); v != nil {
			return append(actions, p.unload(v, ForRoom, now))
		}
		return actions
	}
	h.stay(now)
	if v, why := p.surplus(h, now); v != nil {
		return append(actions, p.unload(v, why, now))
	}
	return actions
}

// stay has adapters that were to leave take claims again, as nothing waits for their room any more.
func (h *host) stay(now time.Time) {
	for _, c := range h.copies {
		if c.state == leaving {
			c.become(loaded, now)
			c.grant()
		}
	}
}

// firstWant returns what h is to load first: for the most urgent claim, then for the one that waits longest, then what
// the Placement wants by itself.
func (p *Placement) firstWant(h *host, now time.Time) *placed {
	var first *placed
	for _, c := range h.copies {
		if (len(c.waiting) > 0 || c.purpose != none) && c.loadable(now) && (first == nil || c.before(first)) {
			first = c
		}
	}
	return first
}

func (c *placed) before(o *placed) bool {
	if len(c.waiting) == 0 || len(o.waiting) == 0 {
		return len(c.waiting) > len(o.waiting) || len(c.waiting) == 0 && len(o.waiting) == 0 && c.purpose > o.purpose
	}
	urgent := func(c *placed) int {
		return slices.MaxFunc(c.waiting, func(a, b *Claim) int { return cmp.Compare(a.priority, b.priority) }).priority
	}
	if a, b := urgent(c), urgent(o); a != b {
		return a > b
	}
	return c.waiting[0].since.Before(o.waiting[0].since)
}

// makeRoom returns what h is to unload for want; nil if nothing can go now. After Patience one that is in use takes no
// more claims, so that it can go.
func (p *Placement) makeRoom(h *host, want *placed, now time.Time) *placed {
	v := p.victim(h, want, now)
	if v != nil && (v.e.retired || h.swaps >= 1) {
		if !v.e.retired {
			h.swaps--
		}
		return v
	}
	if v != nil {
		return nil
	}
	if len(want.waiting) == 0 && want.purpose != toReplace {
		want.purpose = none
		h.forget(want)
		return nil
	}
	since := want.since
	if len(want.waiting) > 0 {
		since = want.waiting[0].since
	}
	if now.Sub(since) < p.rules.Patience ||
		slices.ContainsFunc(h.copies, func(c *placed) bool { return c.state == leaving }) {
		return nil
	}
	if v := p.least(h, want, now, (*placed).evictable); v != nil {
		v.become(leaving, now)
	}
	return nil
}

// victim returns the idle adapter of h that is least in use; nil if none may go. want is what it would go for; nil if
// it is nothing in particular.
func (p *Placement) victim(h *host, want *placed, now time.Time) *placed {
	v := p.least(h, want, now, func(c *placed) bool { return c.evictable() && c.idle() })
	if v != nil && want != nil && len(want.waiting) == 0 && !p.yields(p.worth(v, now), want.e, want.purpose, now) {
		return nil
	}
	return v
}

// yields reports whether an adapter of that worth may go for one that the Placement wants.
func (p *Placement) yields(v worth, e *edition, why purpose, now time.Time) bool {
	switch why {
	case none, toFill, toRestore:
		return false
	case toReplace:
		return true
	case toKeep:
		return v.class < needed
	case toGrow:
		return v.class < needed || v.use < e.use.on(now, p.rules.Memory)/float64(e.loaded+1)/2
	}
	return false
}

// least returns the adapter of h that may go and is least in use: editions that are replaced first, then those that are
// loaded on more hosts than declared, each by its requests for each of its hosts, and the longest unused among equals.
func (p *Placement) least(h *host, want *placed, now time.Time, may func(*placed) bool) (v *placed) {
	var lowest worth
	for _, c := range h.copies {
		if !may(c) || want != nil && c.e == want.e {
			continue
		}
		if w := p.worth(c, now); v == nil || w.below(lowest) {
			v, lowest = c, w
		}
	}
	return v
}

// worth orders adapters of a host by how much they are missed there.
type worth struct {
	class class
	use   float64
	last  time.Time
}

type class uint8

const (
	replaced class = iota
	spare          // loaded on more hosts than declared, and than its load asks for
	needed
)

func (p *Placement) class(c *placed) class {
	switch {
	case c.e.retired || c.state == leaving:
		return replaced
	case c.e.loaded > c.e.floor():
		return spare
	}
	return needed
}

func (p *Placement) worth(c *placed, now time.Time) worth {
	return worth{p.class(c), c.e.use.on(now, p.rules.Memory) / float64(max(1, c.e.loaded)), c.e.use.at}
}

func (w worth) below(o worth) bool {
	return cmp.Or(cmp.Compare(w.class, o.class), cmp.Compare(w.use, o.use), w.last.Compare(o.last)) < 0
}

// load begins a load.
func (p *Placement) load(c *placed, now time.Time) Action {
	c.become(loading, now)
	c.h.busy = c
	c.h.ops++
	return Action{c.h.id, true, c.e.served, c.e.Path}
}

// unload begins an unload.
func (p *Placement) unload(c *placed, why Cause, now time.Time) Action {
	c.become(unloading, now)
	c.h.busy = c
	c.h.ops++
	p.unloads[why]++
	if why == ForRoom {
		c.h.ousted = c
	}
	return Action{c.h.id, false, c.e.served, c.e.Path}
}

package adapters

import (
	"cmp"
	"slices"
	"time"
)

// Step returns what engines are to be asked for now. Each Action's end is told by Loaded or Unloaded.
func (p *Placement) Step(now time.Time) []Action {
	d := decision{p, now}
	d.move()
	for _, e := range p.editions {
		d.weigh(e)
		d.keep(e)
	}
	var actions []Action
	for _, h := range p.hosts {
		actions = d.step(h, actions)
	}
	p.forgetRetired()
	return actions
}

// StepHost is Step for what requests ask of one host.
func (p *Placement) StepHost(id uint16, now time.Time) []Action {
	if h := p.host(id); h != nil {
		return decision{p, now}.step(h, nil)
	}
	return nil
}

// decision is what a Placement decides at a time.
type decision struct {
	*Placement
	now time.Time
}

// step decides what h is to do next, if it does nothing yet: go down to its slots, load what requests wait for, load
// what is to be kept, and unload what is not needed, in this order.
func (d decision) step(h *host, actions []Action) []Action {
	if h.busy != nil || !h.up || h.rests || !h.able || h.unseen() {
		return actions
	}
	h.refill(&d.rules, d.now)
	h.rested(d.now)
	spare := h.spare(&d.rules)
	if spare < 0 {
		if v := d.victim(h, nil); v != nil {
			return append(actions, d.unload(v, Overfull))
		}
	}
	if want := d.firstWant(h); want != nil {
		if spare > 0 {
			return append(actions, d.load(want))
		}
		if v := d.makeRoom(h, want); v != nil {
			return append(actions, d.unload(v, ForRoom))
		}
		return actions
	}
	h.stay(d.now)
	if v, why := d.surplus(h); v != nil {
		return append(actions, d.unload(v, why))
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
func (d decision) firstWant(h *host) *placed {
	var first *placed
	for _, c := range h.copies {
		if c.coming(h) && c.loadable(d.now) && !c.e.onTrial() && (first == nil || c.before(first)) {
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
func (d decision) makeRoom(h *host, want *placed) *placed {
	v := d.victim(h, want)
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
	if d.now.Sub(since) < d.rules.Patience ||
		slices.ContainsFunc(h.copies, func(c *placed) bool { return c.state == leaving }) {
		return nil
	}
	if v := d.least(h, want, (*placed).evictable); v != nil {
		v.become(leaving, d.now)
	}
	return nil
}

// victim returns the idle adapter of h that is least in use; nil if none may go. want is what it would go for; nil if
// it is nothing in particular.
func (d decision) victim(h *host, want *placed) *placed {
	v := d.least(h, want, func(c *placed) bool { return c.evictable() && c.idle() })
	if v != nil && want != nil && len(want.waiting) == 0 && !d.yields(d.worth(v), want.e, want.purpose) {
		return nil
	}
	return v
}

// yields reports whether an adapter of that worth may go for one that the Placement wants.
func (d decision) yields(v worth, e *edition, why purpose) bool {
	switch why {
	case none, toFill, toRestore:
		return false
	case toReplace:
		return true
	case toKeep:
		return v.class < needed
	case toGrow:
		return v.class < needed || v.use < e.use.on(d.now, d.rules.Memory)/float64(e.loaded+1)/2
	}
	return false
}

// least returns the adapter of h that may go and is least in use: editions that are replaced first, then those that are
// loaded on more hosts than declared, each by its requests for each of its hosts, and the longest unused among equals.
func (d decision) least(h *host, want *placed, may func(*placed) bool) (v *placed) {
	var lowest worth
	for _, c := range h.copies {
		if !may(c) || want != nil && c.e == want.e {
			continue
		}
		if w := d.worth(c); v == nil || w.below(lowest) {
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

func (d decision) class(c *placed) class {
	switch {
	case c.e.retired || c.state == leaving:
		return replaced
	case c.e.loaded > c.e.floor():
		return spare
	}
	return needed
}

func (d decision) worth(c *placed) worth {
	return worth{d.class(c), c.e.use.on(d.now, d.rules.Memory) / float64(max(1, c.e.loaded)), c.e.use.at}
}

func (w worth) below(o worth) bool {
	return cmp.Or(cmp.Compare(w.class, o.class), cmp.Compare(w.use, o.use), w.last.Compare(o.last)) < 0
}

// load begins a load.
func (d decision) load(c *placed) Action {
	c.become(loading, d.now)
	c.h.busy = c
	c.h.ops++
	return Action{c.h.id, true, c.e.served, c.e.Path}
}

// unload begins an unload.
func (d decision) unload(c *placed, why Cause) Action {
	c.become(unloading, d.now)
	c.h.busy = c
	c.h.ops++
	d.unloads[why]++
	if why == ForRoom {
		c.h.ousted = c
	}
	return Action{c.h.id, false, c.e.served, c.e.Path}
}

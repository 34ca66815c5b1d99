package adapters

import (
	"errors"
	"slices"
	"time"
)

// Result is how a load or an unload ended.
type Result struct {
	Err    error // nil if the engine did it; ErrUnsupported if it never can
	Listed bool  // the engine lists the adapter now
	Unsure bool  // with Err: it is not known whether the engine has it
}

// Loaded notes the end of a load.
func (p *Placement) Loaded(id uint16, served string, r Result, now time.Time) {
	c := p.ended(id, served, loading)
	if c == nil {
		return
	}
	ousted := c.h.ousted
	c.h.ousted = nil
	if r.Err == nil {
		c.become(loaded, now)
		c.confirmed = r.Listed
		c.grant()
		return
	}
	c.become(absent, now)
	switch {
	case errors.Is(r.Err, ErrDied):
		p.bar(c.e, r.Err, now)
	case errors.Is(r.Err, ErrUnsupported):
		c.h.able = false
		p.rename(c.e, c.e.Name)
	case errors.Is(r.Err, ErrRefused):
		c.e.refusals++
		c.e.refused = now.Add(p.backoff(c.e.refusals))
	}
	if r.Unsure {
		c.become(doubtful, now)
	}
	c.purpose = none
	c.failures++
	c.failure, c.retry = r.Err.Error(), now.Add(p.backoff(c.failures))
	reason := ErrLoad
	if !c.h.able {
		reason = ErrNowhere
	}
	c.deny(&Refusal{Adapter: c.e.Name, Reason: reason, RetryAfter: c.retry.Sub(now), Detail: c.failure})
	if c.e.retired {
		c.failures = 0
		c.h.forget(c)
	}
	c.h.restore(ousted)
}

// bar has no host begin to load e for a while, as an engine has died of it. What waits for it is refused.
func (p *Placement) bar(e *edition, err error, now time.Time) {
	e.deaths++
	e.barred, e.death = now.Add(p.backoff(e.deaths)), err.Error()
	for _, h := range p.hosts {
		if c := h.at(e); c != nil && c.state == absent {
			c.deny(e.barredFor(now))
		}
	}
}

// restore has an adapter loaded again that was unloaded for one whose load has failed, before anything that no request
// waits for. ousted is nil if there is none.
func (h *host) restore(ousted *placed) {
	if ousted == nil || ousted.e.retired {
		return
	}
	if c := h.place(ousted.e); c.state == absent {
		c.purpose = toRestore
	}
}

// backoff is the time between a load that failed and the next.
func (p *Placement) backoff(failures int) time.Duration {
	return min(p.rules.RetryMost, p.rules.Retry<<min(failures-1, 16))
}

// Unloaded notes the end of an unload. Claims that came meanwhile have it loaded again.
func (p *Placement) Unloaded(id uint16, served string, r Result, now time.Time) {
	c := p.ended(id, served, unloading)
	switch {
	case c == nil:
	case r.Err == nil:
		c.become(absent, now)
		if c.e.retired {
			c.deny(&Refusal{Adapter: c.e.Name, Reason: ErrReplaced})
		}
		c.h.forget(c)
	case errors.Is(r.Err, ErrUnsupported):
		c.h.able = false
		c.become(loaded, now)
		c.grant()
	case r.Unsure:
		c.become(doubtful, now)
	default: // the engine has it still
		c.stays++
		c.failure, c.retry = r.Err.Error(), now.Add(p.backoff(c.stays))
		c.become(loaded, now)
		c.grant()
	}
}

// ended returns what was in a state on a host whose load or unload ends; nil if that is not known any more.
func (p *Placement) ended(id uint16, served string, in state) *placed {
	h := p.host(id)
	if h == nil || h.busy == nil || h.busy.e.served != served || h.busy.state != in {
		return nil
	}
	c := h.busy
	h.busy = nil
	h.ops++
	return c
}

// Listed is an adapter that an engine says it has.
type Listed struct {
	Name string
	Path string // "" if the engine does not say
	Base bool   // it may be a model instead
	ID   int    // its number in an engine whose requests name adapters so
}

// Told is what an engine says of its adapters.
type Told struct {
	Listed []Listed
	// Ops is what the host's Ops were when the engine was asked: an answer that is older than a load is dropped.
	Ops uint64
}

// Ops returns the count of loads and unloads of a host, for Told.
func (p *Placement) Ops(id uint16) uint64 {
	if h := p.host(id); h != nil {
		return h.ops
	}
	return 0
}

// Observe notes what an engine says of its adapters: those that it has are loaded, those that it lists not are not.
func (p *Placement) Observe(id uint16, t Told, now time.Time) {
	h := p.host(id)
	if h == nil || h.ops != t.Ops || h.busy != nil {
		return
	}
	if !h.up {
		h.able = h.Loads // it may be another process than before
	}
	h.up, h.seen, h.foreign = true, true, 0
	for _, l := range t.Listed {
		p.recognise(h, l, now)
	}
	for _, c := range slices.Clone(h.copies) {
		listed := slices.ContainsFunc(t.Listed, func(l Listed) bool { return h.names(l, c.e) })
		if !listed {
			p.missing(c, now)
		}
	}
	p.assume(h, now)
}

// names reports whether l is what e is on h: by its name; where engines load nothing themselves, also by its path.
func (h *host) names(l Listed, e *edition) bool {
	return l.Name == e.served && !h.differs(l, e) || !h.Loads && (l.Path != "" && l.Path == e.Path || l.Name == e.Name)
}

// differs reports whether l has the name of e and is another edition, where engines load what they are told to.
func (h *host) differs(l Listed, e *edition) bool {
	return h.able && l.Name == e.served && l.Path != "" && e.Path != "" && l.Path != e.Path
}

// missing notes that the engine of c's host does not list it.
func (p *Placement) missing(c *placed, now time.Time) {
	if c.state == doubtful || c.h.Lists && (c.state == loaded || c.state == leaving) {
		c.become(absent, now)
		c.h.forget(c)
	}
}

// Runs notes which adapters the engine of a host says that it runs requests with, and how many at once; 0 if it does
// not say.
func (p *Placement) Runs(id uint16, served []string, most int) {
	h := p.host(id)
	if h == nil {
		return
	}
	h.told, h.full = most, most > 0 && len(served) >= most
	for _, c := range h.copies {
		c.running = c.state == loaded && slices.Contains(served, c.e.served)
	}
}

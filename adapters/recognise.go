package adapters

import (
	"cmp"
	"slices"
	"time"
)

// rename gives e another name in the engines, unless it is somewhere, or asked for.
func (p *Placement) rename(e *edition, name string) {
	if e.served == name || e.claims > 0 || p.served[name] != nil {
		return
	}
	for _, h := range p.hosts {
		if c := h.at(e); c != nil && c.state != absent {
			return
		}
	}
	delete(p.served, e.served)
	e.served, p.served[name], p.altered = name, e, true
}

// recognise notes one adapter that the engine of h has.
func (p *Placement) recognise(h *host, l Listed, now time.Time) {
	for _, e := range p.editions {
		if l.Name == freshName(e.Adapter) {
			p.rename(e, l.Name) // loaded before this gateway began
		} else if h.differs(l, e) {
			p.rename(e, freshName(e.Adapter))
		}
		if !h.names(l, e) {
			continue
		}
		c := h.place(e)
		c.confirmed, c.number = true, l.ID
		if c.state == absent || c.state == doubtful {
			c.become(loaded, now)
			c.confirmed = true
			c.grant()
		}
		return
	}
	if h.able && p.adopt(h, l, now) {
		return
	}
	if !l.Base {
		h.foreign++
	}
}

// adopt notes an edition that is not declared, by its name: this gateway or another loaded it, and it is to go once it
// is not used. False if l is no such edition.
func (p *Placement) adopt(h *host, l Listed, now time.Time) bool {
	at := slices.IndexFunc(p.declared, func(a Adapter) bool { return isFresh(l.Name, a.Name) })
	if at < 0 || p.served[l.Name] != nil {
		return false
	}
	e := &edition{Adapter: Adapter{Name: p.declared[at].Name, Path: cmp.Or(l.Path, "unknown")}, served: l.Name,
		since: now, retired: true, found: true}
	p.editions, p.served[e.served] = append(p.editions, e), e
	c := h.place(e)
	c.become(loaded, now)
	c.confirmed = true
	return true
}

// reclaim makes the edition that an engine was found to have the one that is declared. False if there is none.
func (p *Placement) reclaim(served string, a Adapter, now time.Time) bool {
	e := p.served[served]
	if e == nil || !e.found {
		return false
	}
	e.Adapter, e.found, e.retired, e.since = a, false, false, now
	return true
}

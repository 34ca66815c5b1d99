package adapters

import (
	"slices"
	"time"
)

// weigh changes on how many hosts e is to be, by the requests that use it or wait for it.
func (d decision) weigh(e *edition) {
	if e.retired || e.loaded == 0 {
		e.pressing, e.calm = time.Time{}, time.Time{}
		return
	}
	room, least := 0.0, 0.0
	for _, h := range d.hosts {
		if c := h.at(e); c != nil && c.state == loaded && h.up {
			most := float64(max(1, h.MaxRunning))
			room += most
			if least == 0 || most < least {
				least = most
			}
		}
	}
	used := float64(e.claims)
	e.pressing = since(e.pressing, used > d.rules.Grow*room && e.loaded < len(d.hosts), d.now)
	e.calm = since(e.calm, used <= d.rules.Shrink*(room-least), d.now)
	switch {
	case !e.pressing.IsZero() && d.now.Sub(e.pressing) >= d.rules.Hold:
		e.extra = max(e.extra, e.loaded+1-e.kept())
		e.pressing = d.now
	case e.extra > 0 && !e.calm.IsZero() && d.now.Sub(e.calm) >= d.rules.Calm:
		e.extra--
		e.calm = d.now
	}
}

// since returns since when something holds; zero if it does not.
func since(t time.Time, holds bool, now time.Time) time.Time {
	switch {
	case !holds:
		return time.Time{}
	case t.IsZero():
		return now
	}
	return t
}

// base is on how many hosts e is to be without load.
func (d decision) base(e *edition) int {
	hosts := len(d.hosts)
	switch {
	case e.retired:
		return 0
	case d.force[e.Name] != e:
		return max(1, min(d.force[e.Name].loaded, hosts))
	case e.Replicas == 0:
		return hosts
	}
	return min(e.Replicas, hosts)
}

// keep has e be loaded on as many hosts as it is to be on: on free slots, or in place of others where another edition
// of it is to be replaced or its load asks for it.
func (d decision) keep(e *edition) {
	if e.retired || e.Path == "" {
		return
	}
	target := min(max(d.base(e), e.floor()), len(d.hosts))
	for have := d.held(e); have < target; have++ {
		why := d.purpose(e, have)
		h := d.choose(e, func(h *host) bool { return h.seen && !h.rests && d.offers(h, e, why) })
		if h == nil {
			return
		}
		c := h.place(e)
		c.purpose, c.since = why, d.now
	}
}

// purpose is why e is to be on another host, if it is on so many.
func (d decision) purpose(e *edition, have int) purpose {
	switch {
	case d.force[e.Name] != e:
		return toReplace
	case have < e.kept():
		return toKeep
	case have < e.floor():
		return toGrow
	}
	return toFill
}

// offers reports whether h has room for e, or an adapter that may go for it.
func (d decision) offers(h *host, e *edition, why purpose) bool {
	if d.room(h) > 0 || why == toReplace {
		return true
	}
	v := d.least(h, nil, func(c *placed) bool { return c.evictable() && c.idle() && c.e != e })
	return v != nil && d.room(h) == 0 && d.yields(d.worth(v), e, why)
}

// held counts the hosts that have e, or are about to.
func (d decision) held(e *edition) int {
	n := 0
	for _, h := range d.hosts {
		if c := h.at(e); c != nil && h.up && (c.state == loaded || c.state == loading || c.coming(h) && !h.rests) {
			n++
		}
	}
	return n
}

// coming reports whether c is on the way to its host.
func (c *placed) coming(h *host) bool {
	return h.able && (c.purpose != none || len(c.waiting) > 0)
}

// room is how many free slots h has that nothing is on the way to.
func (d decision) room(h *host) int {
	n := h.spare(&d.rules)
	for _, c := range h.copies {
		if c.state == absent && c.coming(h) {
			n--
		}
	}
	return n
}

// surplus returns what h need not hold any more, and why; nil if there is nothing.
func (d decision) surplus(h *host) (*placed, Cause) {
	for _, c := range h.copies {
		if !c.evictable() || !c.idle() {
			continue
		}
		switch quiet := d.now.Sub(c.since); {
		case c.e.found && quiet < d.rules.Calm: // another gateway may send requests to it
		case c.e.retired && quiet >= d.rules.Linger && d.now.Sub(c.e.since) >= d.rules.Linger:
			return c, Replaced
		case c.state == loaded && !c.e.retired && quiet >= d.rules.Calm && c.e.loaded > max(d.base(c.e), c.e.floor()):
			return c, Unneeded
		}
	}
	return nil, 0
}

// forgetRetired drops editions that are retired and on no host.
func (p *Placement) forgetRetired() {
	p.editions = slices.DeleteFunc(p.editions, func(e *edition) bool {
		gone := e.retired && e.claims == 0 && !slices.ContainsFunc(p.hosts, func(h *host) bool {
			c := h.at(e)
			return c != nil && c.state != absent
		})
		if gone {
			delete(p.served, e.served)
			for _, h := range p.hosts {
				h.copies = slices.DeleteFunc(h.copies, func(c *placed) bool { return c.e == e })
			}
		}
		return gone
	})
}

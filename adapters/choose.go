package adapters

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"time"
)

// Serving returns the hosts among those allowed that requests for an edition, by its name in the engines, are to go to:
// those that have it loaded; else those that it is on the way to, last those where its trial is waited for; else the
// one where it would be loaded. It is empty if none of them can hold it. It changes nothing. known is false for a name
// that is no edition's.
func (p *Placement) Serving(served string, allowed func(uint16) bool, now time.Time) (hosts []uint16, known bool) {
	e := p.served[served]
	if e == nil {
		return nil, false
	}
	var near [far + 1][]uint16
	for _, h := range p.hosts {
		if c := h.at(e); c != nil && allowed(h.id) {
			d := c.distance(now)
			near[d] = append(near[d], h.id)
		}
	}
	switch {
	case len(near[here]) > 0:
		return near[here], true
	case len(near[onTheWay]) > 0 || e.Path == "" || e.retired:
		return near[onTheWay], true
	case len(near[afterTrial]) > 0:
		return near[afterTrial], true
	}
	if h := (decision{p, now}).choose(e, func(h *host) bool { return allowed(h.id) }); h != nil {
		return []uint16{h.id}, true
	}
	return near[going], true
}

// distance is how far an edition is from being loaded on a host.
type distance uint8

const (
	here       distance = iota // it is loaded
	onTheWay                   // it is loaded next, or is being loaded
	afterTrial                 // it is loaded once another host has had it
	going                      // it is unloaded, or its engine did not say how a load or an unload ended
	far                        // it is neither there nor on the way
)

func (c *placed) distance(now time.Time) distance {
	switch wanted := c.coming(c.h) && c.loadable(now); {
	case c.state == loaded:
		return here
	case c.state == loading, wanted && !c.e.onTrial():
		return onTheWay
	case wanted:
		return afterTrial
	case c.state != absent && c.h.able:
		return going
	}
	return far
}

// soon is when a host that has just begun has told which adapters it has.
const soon = time.Second

// RetryAfter returns when a host may hold an edition that none can now; 0 if that is not known.
func (p *Placement) RetryAfter(served string, now time.Time) (after time.Duration, why string) {
	e := p.served[served]
	for _, h := range p.hosts {
		if !h.seen && h.up && (after == 0 || after > soon) {
			after = soon
		}
		if c := h.at(cmp.Or(e, &edition{})); e != nil && c != nil && c.retry.After(now) {
			if left := c.retry.Sub(now); after == 0 || left < after {
				after, why = left, c.failure
			}
		}
	}
	if e != nil && e.refused.After(now) {
		after = max(after, e.refused.Sub(now))
	}
	if e != nil && e.barred.After(now) {
		after, why = max(after, e.barred.Sub(now)), e.death
	}
	return after, why
}

// choose returns the host where e would be loaded: one with free slots, by rendezvous hashing weighted by how many;
// else the one whose idle adapter is missed least; else the one with the fewest claims. nil if none can hold e.
func (d decision) choose(e *edition, may func(*host) bool) (best *host) {
	if d.now.Before(e.barred) {
		return nil
	}
	var highest seat
	for _, h := range d.hosts {
		if !h.able || !h.up || !may(h) {
			continue
		}
		if c := h.at(e); c != nil && (c.state != absent || c.purpose != none || d.now.Before(c.retry)) {
			continue
		}
		s, can := d.seat(h, e)
		if c := h.at(e); c != nil && c.failures > 0 {
			s.kind = -1
		}
		if can && (best == nil || highest.below(s)) {
			best, highest = h, s
		}
	}
	return best
}

// seat is how good a host is for one more adapter.
type seat struct {
	// 2 free slots, 1 an idle adapter that can go and a swap to spare, 0 neither; -1 if the last load failed there
	kind  int
	worth worth   // of the adapter that would go
	draw  float64 // of the rendezvous
}

func (s seat) below(o seat) bool {
	if s.kind != o.kind {
		return s.kind < o.kind
	}
	if s.kind == 1 && s.worth != o.worth {
		return o.worth.below(s.worth)
	}
	return s.draw < o.draw
}

// seat returns what h offers to e. False if nothing of h could ever go, or is to go for one that engines refused
// lately.
func (d decision) seat(h *host, e *edition) (seat, bool) {
	if free := d.room(h); free > 0 {
		return seat{kind: 2, draw: draw(e.served, h.id, free)}, true
	}
	var idle []worth
	could, claims := false, 1
	for _, c := range h.copies {
		claims += c.users + len(c.waiting)
		could = could || c.e.Path != "" && (c.state != absent || c.coming(h))
		if c.evictable() && c.idle() {
			idle = append(idle, d.worth(c))
		}
	}
	coming := max(0, -d.room(h)) // that idle ones go for already
	refused := d.now.Before(e.refused)
	if len(idle) <= coming || h.swaps+d.now.Sub(h.filled).Minutes()*float64(d.rules.Swaps) < float64(coming+1) {
		return seat{draw: draw(e.served, h.id, 1) / float64(claims)}, could && !refused
	}
	slices.SortFunc(idle, func(a, b worth) int {
		switch {
		case a.below(b):
			return -1
		case b.below(a):
			return 1
		}
		return 0
	})
	can := !refused || idle[coming].class < needed
	return seat{kind: 1, worth: idle[coming], draw: draw(e.served, h.id, 1)}, can
}

// draw is a host's number in the lottery for an adapter: the highest wins, so that each host wins in proportion to its
// weight, and all but one host's adapters stay where they are when a host comes or goes.
func draw(name string, host uint16, weight int) float64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte{byte(host), byte(host >> 8)})
	_, _ = hash.Write([]byte(name))
	x := hash.Sum64()
	x = (x ^ x>>31) * 0x9e3779b97f4a7c15
	x ^= x >> 32
	unit := (float64(x>>11) + 0.5) / (1 << 53)
	return -float64(weight) / math.Log(unit)
}

package adapters

import (
	"slices"
	"time"
)

// state is how far an adapter is on a host.
type state uint8

const (
	absent    state = iota
	loading         // asked of the engine
	loaded          // takes claims
	leaving         // takes no more claims, and is unloaded once none is held
	unloading       // asked of the engine
	doubtful        // the engine did not say how its load or unload ended
)

var stateNames = [...]string{"absent", "loading", "loaded", "leaving", "unloading", "doubtful"}

// purpose is why an adapter is to be loaded on a host though no request waits for it there.
type purpose uint8

const (
	none      purpose = iota
	toFill            // it is to be everywhere: on a free slot
	toKeep            // it is on fewer hosts than declared: also in place of one that is on more
	toGrow            // its load asks for it: also in place of one that is half as much in use
	toReplace         // it is the edition to come: in place of any
	toRestore         // it was unloaded for one whose load has failed: on the slot that it had
)

// host is one replica, as far as adapters are concerned.
type host struct {
	HostTerms
	id      uint16
	up      bool
	seen    bool // its engine has told which adapters it has
	told    int  // slots, as its engine says; 0 is not known
	full    bool // its engine runs requests with as many adapters as it can at once
	stale   bool // what it has loaded has changed since changes was asked
	able    bool // it can load: Loads, until the engine refuses
	rests   bool // its engine has put its model aside: nothing is loaded and unloaded there
	copies  []*placed
	foreign int     // adapters that its engine has and that are not declared
	busy    *placed // the one that is loading or unloading; nil if none is
	ousted  *placed // what was unloaded for the load that comes next; nil if nothing was
	swaps   float64 // that it may make now
	filled  time.Time
	ops     uint64 // loads and unloads that began or ended
}

// placed is an edition on a host.
type placed struct {
	e     *edition
	h     *host
	state state

	users     int      // claims that are held
	waiting   []*Claim // in the order of arrival
	purpose   purpose  // why the Placement itself wants it there
	confirmed bool     // the engine lists it
	number    int      // in an engine whose requests name adapters so
	running   bool     // the engine runs requests with it
	failures  int      // loads that failed in a row
	stays     int      // unloads that failed in a row
	retry     time.Time
	failure   string // of the last load or unload; "" if it succeeded
	since     time.Time
	gone      int // how many times it became absent
}

// unseen reports whether the engine of h has yet to tell which adapters it has: until then it is not known for how many
// more it has room.
func (h *host) unseen() bool { return h.Lists && !h.seen }

// at returns an edition on h; nil if nothing is known of it there.
func (h *host) at(e *edition) *placed {
	for _, c := range h.copies {
		if c.e == e {
			return c
		}
	}
	return nil
}

// place returns an edition on h, absent if nothing was known of it there.
func (h *host) place(e *edition) *placed {
	c := h.at(e)
	if c == nil {
		c = &placed{e: e, h: h}
		h.copies = append(h.copies, c)
	}
	return c
}

// become changes the state of c.
func (c *placed) become(s state, now time.Time) {
	c.h.stale = c.h.stale || (c.state == loaded) != (s == loaded)
	if c.state == loaded {
		c.e.loaded--
	}
	if c.state == loading {
		c.e.loading--
	}
	if s == loaded {
		c.e.loaded++
		if c.e.ready.IsZero() {
			c.e.ready = now
		}
		c.purpose, c.failures = none, 0
		c.e.refusals, c.e.refused = 0, time.Time{}
		c.e.deaths, c.e.barred, c.e.death = 0, time.Time{}, ""
		if c.stays == 0 {
			c.failure, c.retry = "", time.Time{}
		}
	}
	if s == loading {
		c.e.loading++
	}
	if s == absent {
		c.gone++
		c.confirmed, c.running = false, false
		if c.stays > 0 {
			c.stays, c.failure, c.retry = 0, "", time.Time{}
		}
	}
	c.state, c.since = s, now
}

// takes reports whether c counts against the slots of its host. What engines have by themselves is counted only where
// the configuration sets the number of slots.
func (c *placed) takes(slots int) bool {
	return c.state != absent && (c.e.Path != "" || slots > 0 && c.confirmed)
}

// spare returns how many adapters h can still be told to load. Below 0 it has too many.
func (h *host) spare(r *Rules) int {
	slots := mostSlots
	switch {
	case r.Slots > 0:
		slots = r.Slots - h.foreign
	case h.told > 0:
		slots = h.told
	}
	for _, c := range h.copies {
		if c.takes(r.Slots) {
			slots--
		}
	}
	return slots
}

// refill brings the swaps that h may make up to date.
func (h *host) refill(r *Rules, now time.Time) {
	if h.filled.IsZero() {
		h.swaps = r.burst()
	} else {
		h.swaps = min(r.burst(), h.swaps+now.Sub(h.filled).Minutes()*float64(r.Swaps))
	}
	h.filled = now
}

// forget drops c where nothing is known of it any more.
func (h *host) forget(c *placed) {
	if c.state == absent && len(c.waiting) == 0 && c.purpose == none && c.failures == 0 && c.users == 0 {
		h.copies = slices.DeleteFunc(h.copies, func(o *placed) bool { return o == c })
	}
}

// loadable reports whether c could be loaded on its host now, or once its trial elsewhere has ended well.
func (c *placed) loadable(now time.Time) bool {
	return c.state == absent && c.h.able && c.h.up && c.e.Path != "" && !now.Before(c.retry) &&
		!now.Before(c.e.barred)
}

// evictable reports whether c may be unloaded: what is unloaded can be loaded again. One that the engine did not unload
// is left alone for a while; one that another gateway may have loaded, as long as the engine runs requests with it.
func (c *placed) evictable() bool {
	return (c.state == loaded || c.state == leaving) && c.h.able && c.e.Path != "" && c.retry.IsZero() &&
		!(c.e.found && c.running)
}

// rested has what could not be unloaded be unloaded again, once it has been left alone for long enough.
func (h *host) rested(now time.Time) {
	for _, c := range h.copies {
		if c.stays > 0 && !now.Before(c.retry) {
			c.retry = time.Time{}
		}
	}
}

// idle reports whether no request uses c or waits for it. One that is leaving goes whatever waits for it.
func (c *placed) idle() bool { return c.users == 0 && (c.state == leaving || len(c.waiting) == 0) }

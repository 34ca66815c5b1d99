package slo

import "time"

// ring tells which of n slots the present is in, and which have grown old. Time that goes back stands still.
type ring struct {
	span  time.Duration // of one slot
	start time.Time
	now   int64 // slots since start
}

func newRing(window time.Duration, n int, start time.Time) ring {
	return ring{span: max(window/time.Duration(n), 1), start: start}
}

// advance moves to now and returns the slots that must be emptied on the way, newest last, at most n of them: [from,
// to).
func (r *ring) advance(now time.Time, n int) (from, to int64) {
	at := int64(now.Sub(r.start) / r.span)
	if at <= r.now {
		return 0, 0
	}
	from, to = max(r.now+1, at-int64(n)+1), at+1
	r.now = at
	return from, to
}

// slot is the slot of a time, of the past too: floor of the division.
func (r *ring) slot(at time.Time) int64 {
	d := at.Sub(r.start)
	slot := int64(d / r.span)
	if d < 0 && d%r.span != 0 {
		slot--
	}
	return slot
}

// tally counts events and those among them that hold, over the last while.
type tally struct {
	ring  ring
	slots []count
}

type count struct{ hold, all int }

func newTally(window time.Duration, n int, start time.Time) tally {
	return tally{ring: newRing(window, n, start), slots: make([]count, n)}
}

// roll empties what is older than the window.
func (t *tally) roll(now time.Time) {
	for from, to := t.ring.advance(now, len(t.slots)); from < to; from++ {
		t.slots[from%int64(len(t.slots))] = count{}
	}
}

func (t *tally) add(now time.Time, holds bool) {
	t.roll(now)
	c := &t.slots[t.ring.now%int64(len(t.slots))]
	c.all++
	if holds {
		c.hold++
	}
}

// addAt counts an event of the past in the slot of its time; what is older than the window does not count.
func (t *tally) addAt(now, at time.Time, holds bool) {
	c := count{all: 1}
	if holds {
		c.hold = 1
	}
	t.merge(now, at, c)
}

// merge counts the events of one time in the past.
func (t *tally) merge(now, at time.Time, c count) {
	t.roll(now)
	slot := t.ring.slot(at)
	if slot > t.ring.now {
		slot = t.ring.now
	}
	if slot <= t.ring.now-int64(len(t.slots)) {
		return
	}
	n := int64(len(t.slots))
	into := &t.slots[(slot%n+n)%n]
	into.all += c.all
	into.hold += c.hold
}

// take takes back one event that held, of the slot of a time, if there is one; else it returns false.
func (t *tally) take(now, at time.Time) bool {
	t.roll(now)
	slot := min(t.ring.slot(at), t.ring.now)
	n := int64(len(t.slots))
	from := &t.slots[(slot%n+n)%n]
	if slot <= t.ring.now-n || from.hold == 0 {
		return false
	}
	from.all--
	from.hold--
	return true
}

// each calls f with the counts that are not empty and the begin of their slots, oldest first.
func (t *tally) each(now time.Time, f func(at time.Time, c count)) {
	t.roll(now)
	n := int64(len(t.slots))
	for slot := t.ring.now - n + 1; slot <= t.ring.now; slot++ {
		if c := t.slots[(slot%n+n)%n]; c.all > 0 {
			f(t.ring.start.Add(time.Duration(slot)*t.ring.span), c)
		}
	}
}

func (t *tally) sum(now time.Time) (total count) {
	t.roll(now)
	for _, c := range t.slots {
		total.all += c.all
		total.hold += c.hold
	}
	return total
}

// rate is the share that holds, of a count that is not empty.
func (c count) rate() float64 { return float64(c.hold) / float64(c.all) }

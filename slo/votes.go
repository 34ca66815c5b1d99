package slo

import (
	"iter"
	"maps"
	"math"
	"slices"
	"time"
)

// votes counts verdicts over the last while, apart by voter, so that no tenant's need weigh more than all others'
// together.
type votes struct {
	window time.Duration
	slots  int
	least  int               // verdicts of the others from which on a voter's share is bounded
	by     map[string]*tally // by voter; "" is the gateway's own judge
	since  time.Time
}

func newVotes(c CorrectnessConfig, now time.Time) votes {
	return votes{window: c.Window, slots: correctnessSlots, least: halfOf(c.MinSamples), by: map[string]*tally{},
		since: now}
}

// of returns a voter's tally.
func (v *votes) of(voter string) *tally {
	t := v.by[voter]
	if t == nil {
		made := newTally(v.window, v.slots, v.since)
		t = &made
		v.by[voter] = t
	}
	return t
}

// add counts one verdict in the slot of its answer.
func (v *votes) add(now time.Time, d Verdict) { v.of(d.By).addAt(now, d.Answered, d.Pass) }

// overturn makes of one answer that passed by a voter's verdict one that fails by another's. Nothing changes if the
// first has left the window.
func (v *votes) overturn(now time.Time, d Verdict, passedBy string) {
	if v.of(passedBy).take(now, d.Answered) {
		v.of(d.By).addAt(now, d.Answered, false)
	}
}

// sum returns all verdicts as they were given.
func (v *votes) sum(now time.Time) (total count) {
	for voter, t := range v.by {
		c := t.sum(now)
		if c.all == 0 {
			delete(v.by, voter)
			continue
		}
		total.all += c.all
		total.hold += c.hold
	}
	return total
}

// fair returns the verdicts as fairly counts them.
func (v *votes) fair(now time.Time) count {
	return fairly(v.sum(now), v.least, func(yield func(string, count) bool) {
		for voter, t := range v.by {
			if !yield(voter, t.sum(now)) {
				return
			}
		}
	})
}

// fairly returns a total of verdicts with none but the gateway's own judge above half: a voter with more than all
// others counts as much as they do. While the others have given fewer than least, half of what a decision needs, a
// voter is as good as alone, and counts in full: otherwise one verdict of another tenant could silence it.
func fairly(total count, least int, by iter.Seq2[string, count]) count {
	for voter, c := range by {
		others := total.all - c.all
		if voter == "" || c.all <= others || others < least {
			continue
		}
		share := count{hold: int(math.Round(c.rate() * float64(others))), all: others}
		return count{hold: total.hold - c.hold + share.hold, all: others + share.all}
	}
	return total
}

// halfOf returns how many verdicts of the others bound a voter's share, where a decision needs so many.
func halfOf(need int) int { return max((need+1)/2, 1) }

// below reports whether, read either way, even the most that the rate could be is below the floor.
func (v *votes) below(now time.Time, floor float64, least int) bool {
	for _, c := range [...]count{v.sum(now), v.fair(now)} {
		if _, high := c.wilson(); c.all < least || high >= floor {
			return false
		}
	}
	return true
}

// reaches reports whether, read either way, the rate is at the floor or above.
func (v *votes) reaches(now time.Time, floor float64, least int) bool {
	for _, c := range [...]count{v.sum(now), v.fair(now)} {
		if c.all < least || c.rate() < floor {
			return false
		}
	}
	return true
}

// reset forgets everything.
func (v *votes) reset(now time.Time) {
	v.since = now
	clear(v.by)
}

// saved returns the verdicts by voter and slot.
func (v *votes) saved(now time.Time) (slots []Slot) {
	for _, voter := range slices.Sorted(maps.Keys(v.by)) {
		v.by[voter].each(now, func(at time.Time, c count) {
			slots = append(slots, Slot{At: at, Pass: c.hold, All: c.all, By: voter})
		})
	}
	return slots
}

func (v *votes) restore(slots []Slot, now time.Time) {
	v.reset(beginOf(slots, v.window, now))
	v.merge(slots, now)
}

// beginOf returns when the first slot of a window began that was saved; now if it has none. A window that is restored
// from there has the same slots: verdicts grow no older, however often they are saved.
func beginOf(slots []Slot, window time.Duration, now time.Time) time.Time {
	begin := now
	for _, s := range slots {
		if s.At.Before(begin) && now.Sub(s.At) < window {
			begin = s.At
		}
	}
	return begin
}

// merge adds verdicts that were saved.
func (v *votes) merge(slots []Slot, now time.Time) {
	for _, s := range slots {
		v.of(s.By).merge(now, s.At, count{hold: s.Pass, all: s.All})
	}
}

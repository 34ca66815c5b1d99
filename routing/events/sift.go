package events

import "slices"

// Sift takes the events out of b that cannot be applied, adds their number to b.Refused, and leaves the order of the
// others. Without them the index knows less than the engine holds and never more: a registration may be left out, and
// so may a removal of what cannot have been registered. Of other events only what counts is kept: what an eviction
// names besides hashes and tier is not read. An event of an unknown kind stays, for Check to refuse the batch: it may
// be a removal. Sift never writes to the slice that b had.
func (b *Batch) Sift() {
	first := slices.IndexFunc(b.Events, func(e Event) bool { return e.check() != nil })
	if first < 0 {
		return
	}
	kept := append(make([]Event, 0, len(b.Events)), b.Events[:first]...)
	for _, e := range b.Events[first:] {
		if e.check() != nil && !e.reduce() {
			b.Refused++
			continue
		}
		kept = append(kept, e)
	}
	b.Events = kept
}

// reduce takes off e what does not count, and reports whether the rest is to be kept.
func (e *Event) reduce() bool {
	switch e.Kind {
	case Registered:
		return false
	case Evicted:
		*e = Event{Kind: Evicted, Tier: e.Tier, Hashes: e.Hashes}
		return e.check() == nil
	case Cleared, Shutdown:
		*e = Event{Kind: e.Kind}
	}
	return true
}

// join makes one of two events where b goes on with a: blocks of one chain, or removals from one tier. It reports
// false, and changes nothing, where they are two things.
func (e *Event) join(b *Event) bool {
	if e.Kind != b.Kind || e.Tier != b.Tier || len(e.Hashes) == 0 || len(b.Hashes) == 0 {
		return false
	}
	switch e.Kind {
	case Evicted:
	case Registered:
		if !e.continuedBy(b) {
			return false
		}
		e.Tokens = append(e.Tokens, b.Tokens...)
	default:
		return false
	}
	e.Hashes = append(e.Hashes, b.Hashes...)
	return true
}

func (e *Event) continuedBy(b *Event) bool {
	return !b.Root && b.Parent == e.Hashes[len(e.Hashes)-1] && (e.Root || e.Parent != 0) && e.Adapter == b.Adapter &&
		e.Salt == b.Salt &&
		e.BlockSize == b.BlockSize && (len(e.Tokens) == 0) == (len(b.Tokens) == 0)
}

// Append adds e to all. An event that goes on with the last one becomes part of that, so that engines which tell of
// each page by itself make short batches. The memory of e's slices is the list's from then on.
func Append(all []Event, e Event) []Event {
	if n := len(all); n > 0 && all[n-1].join(&e) {
		return all
	}
	return append(all, e)
}

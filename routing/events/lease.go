package events

import (
	"slices"
	"time"
)

const (
	maxChallengers = 4       // of one replica; further ones are not listened to
	maxParked      = 1024    // batches of one replica's challengers
	maxOwed        = 8 << 20 // bytes of them, about
	maxRecent      = 64      // batches that are remembered by their sums
)

// Speaker is the publisher of a batch, as far as its transport can tell.
type Speaker struct {
	Name    string    // by which the transport knows it again; "" if it knows none
	At      time.Time // when the transport took the batch, by its own clock; zero: now
	Lasting bool      // it holds the lease while its session is open, silent or not
}

// sourceLease says which publishers' batches count for a replica, and keeps batches of those that would replace them.
// Guarded by its replicaState's mu.
type sourceLease struct {
	bound          []publisher // the holders, one a source; empty: the first publisher becomes one
	challengers    []*challenger
	budget         *budget
	batches, bytes int            // parked by all challengers; bytes are charged to budget
	recent         [maxRecent]sum // of batches applied last, by number
}

// publisher is one holder of the lease, or a candidate.
type publisher struct {
	source, name string
	heard        time.Time // last batch, by the transport's clock
	came         time.Time // the same by our clock
	session      *session  // that keeps the lease while it is open; nil: its batches do
}

// challenger is a publisher without the lease, and its batches that may be applied later.
type challenger struct {
	publisher
	parked []parked
}

type parked struct {
	Batch
	session *session
	sum     sum
	bytes   int
}

// sum is a batch's number and the hash of its content.
type sum struct{ epoch, seq, sum uint64 }

// of returns a source's holder of the lease, or nil.
func (b *sourceLease) of(source string) *publisher {
	if i := slices.IndexFunc(b.bound, func(v publisher) bool { return v.source == source }); i >= 0 {
		return &b.bound[i]
	}
	return nil
}

// silent reports whether all holders had been silent for long when a batch came from source, taken at that time;
// source "" asks for this moment. Streams are read at different positions, so the silence of another source counts from
// when its last batch was read here.
func (b *sourceLease) silent(source string, at, now time.Time, long time.Duration) bool {
	for i := range b.bound {
		v := &b.bound[i]
		quiet := at.Sub(v.heard)
		if v.source != source {
			quiet = min(quiet, now.Sub(v.came))
		}
		if v.session != nil || quiet < long {
			return false
		}
	}
	return true
}

// speaks notes a batch of v.
func (v *publisher) speaks(l *session, by Speaker, now time.Time) {
	v.came, v.heard, v.session = now, by.At, nil
	if by.Lasting && l != nil {
		v.session = l
	}
}

// left notes that a session is closed: the holder that it kept is silent from now on.
func (b *sourceLease) left(l *session, now time.Time) {
	for i := range b.bound {
		if v := &b.bound[i]; v.session == l {
			v.session, v.heard, v.came = nil, now, now
		}
	}
}

// gone notes that the replica is gone: its holders count as silent, except those with an open session.
func (b *sourceLease) gone() {
	for i := range b.bound {
		b.bound[i].heard, b.bound[i].came = time.Time{}, time.Time{}
	}
}

// challenger returns the challenger of that name, a new one if there is room, else nil.
func (b *sourceLease) challenger(source, name string) *challenger {
	for _, r := range b.challengers {
		if r.source == source && r.name == name {
			return r
		}
	}
	if len(b.challengers) == maxChallengers {
		return nil
	}
	r := &challenger{publisher: publisher{source: source, name: name}}
	b.challengers = append(b.challengers, r)
	return r
}

// park keeps a batch of a challenger, within a replica's bounds for those. It returns false if the account has no room
// for it.
func (b *sourceLease) park(source string, p parked) bool {
	p.bytes = weight(&p.Batch)
	if b.batches == maxParked || b.bytes+p.bytes > maxOwed {
		return true
	}
	r := b.challenger(source, p.By.Name)
	if r == nil {
		return true
	}
	kept := b.budget.take(p.bytes, anyPart)
	if kept {
		r.parked = append(r.parked, p)
		b.batches, b.bytes = b.batches+1, b.bytes+p.bytes
	}
	b.prune()
	return kept
}

// unpark releases the bytes of a parked batch.
func (b *sourceLease) unpark(p *parked) {
	b.batches, b.bytes = b.batches-1, b.bytes-p.bytes
	b.budget.give(p.bytes)
}

// prune drops the challengers that have nothing parked.
func (b *sourceLease) prune() {
	b.challengers = slices.DeleteFunc(b.challengers, func(r *challenger) bool { return len(r.parked) == 0 })
}

// restart forgets everything.
func (b *sourceLease) restart() {
	b.budget.give(b.bytes)
	*b = sourceLease{budget: b.budget}
}

// bind makes a challenger a holder and returns its parked batches. Alone, it replaces all other holders.
func (b *sourceLease) bind(r *challenger, alone bool) []parked {
	if alone {
		b.bound = b.bound[:0]
	}
	b.bound = append(b.bound, r.publisher)
	for i := range r.parked {
		b.unpark(&r.parked[i])
	}
	b.challengers = slices.DeleteFunc(b.challengers, func(x *challenger) bool { return x == r })
	return r.parked
}

// expire drops parked batches of earlier epochs.
func (b *sourceLease) expire(epoch uint64) {
	for _, r := range b.challengers {
		r.parked = slices.DeleteFunc(r.parked, func(p parked) bool {
			if p.Epoch >= epoch {
				return false
			}
			b.unpark(&p)
			return true
		})
	}
	b.prune()
}

// successor returns the challenger with the latest epoch, or nil.
func (b *sourceLease) successor() (next *challenger) {
	for _, r := range b.challengers {
		if next == nil || r.parked[0].Epoch > next.parked[0].Epoch {
			next = r
		}
	}
	return next
}

// witness returns the challenger of another source that has brought the same batch, or nil.
func (b *sourceLease) witness(s sum) *challenger {
	for _, r := range b.challengers {
		if b.of(r.source) == nil && slices.ContainsFunc(r.parked, func(p parked) bool { return p.sum == s }) {
			return r
		}
	}
	return nil
}

// remember notes a batch that was applied.
func (b *sourceLease) remember(s sum) { b.recent[s.seq%maxRecent] = s }

// knows reports whether a batch of that number was applied lately, and whether its content was the same.
func (b *sourceLease) knows(s sum) (known, same bool) {
	old := b.recent[s.seq%maxRecent]
	return old.sum != 0 && old.epoch == s.epoch && old.seq == s.seq, old == s
}

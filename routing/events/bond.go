package events

import (
	"slices"
	"time"
)

const (
	maxRivals = 4       // of one replica; further ones are not listened to
	maxParked = 1024    // batches of one replica's rivals
	maxOwed   = 8 << 20 // bytes of them, about
	maxRecent = 64      // batches that are remembered by their sums
)

// Speaker is who published a batch, as far as its transport can tell.
type Speaker struct {
	Name    string    // by which the transport knows it again; "" is anyone there
	At      time.Time // when the transport took the batch, by its own clock; zero: now
	Lasting bool      // it speaks for as long as its lane is open, silent or not
}

// bond is who speaks for a replica. Guarded by the shelf's mu.
type bond struct {
	voices         []voice // one a source; none: whoever comes first
	rivals         []*rival
	purse          *purse
	batches, bytes int            // that all rivals have parked; bytes are charged to purse
	recent         [maxRecent]sum // of batches applied last, by number
}

// voice is one who speaks for a replica, or wants to.
type voice struct {
	source, name string
	heard        time.Time // by the transport's clock
	came         time.Time // by ours
	lane         *lane     // that it holds the replica by while it is open; nil: by being heard
}

// rival is one who is not bound, and what it has brought of what may be taken later.
type rival struct {
	voice
	parked []parked
}

type parked struct {
	Batch
	lane  *lane
	sum   sum
	bytes int
}

// sum is a batch's number and what it says.
type sum struct{ epoch, seq, sum uint64 }

// of returns the voice that a source is bound by; nil for none.
func (b *bond) of(source string) *voice {
	if i := slices.IndexFunc(b.voices, func(v voice) bool { return v.source == source }); i >= 0 {
		return &b.voices[i]
	}
	return nil
}

// silent reports whether all who are bound had been silent for long when a batch came from source, taken at that time;
// source "" asks for this moment. Streams are read at different places, so the silence of another source counts from
// when it was last heard here.
func (b *bond) silent(source string, at, now time.Time, long time.Duration) bool {
	for i := range b.voices {
		v := &b.voices[i]
		quiet := at.Sub(v.heard)
		if v.source != source {
			quiet = min(quiet, now.Sub(v.came))
		}
		if v.lane != nil || quiet < long {
			return false
		}
	}
	return true
}

// speaks notes that v was heard.
func (v *voice) speaks(l *lane, by Speaker, now time.Time) {
	v.came, v.heard, v.lane = now, by.At, nil
	if by.Lasting && l != nil {
		v.lane = l
	}
}

// left notes that a lane is closed: who held the replica by it is silent from now on.
func (b *bond) left(l *lane, now time.Time) {
	for i := range b.voices {
		if v := &b.voices[i]; v.lane == l {
			v.lane, v.heard, v.came = nil, now, now
		}
	}
}

// gone notes that the replica is gone, and with it who speaks for it, but for those who hold it.
func (b *bond) gone() {
	for i := range b.voices {
		b.voices[i].heard, b.voices[i].came = time.Time{}, time.Time{}
	}
}

// rival returns the one of that name, a new one where there is room; nil where there is none.
func (b *bond) rival(source, name string) *rival {
	for _, r := range b.rivals {
		if r.source == source && r.name == name {
			return r
		}
	}
	if len(b.rivals) == maxRivals {
		return nil
	}
	r := &rival{voice: voice{source: source, name: name}}
	b.rivals = append(b.rivals, r)
	return r
}

// park keeps a batch of a speaker who is not bound, within a replica's bounds for those. It reports false where the
// account has no room for it.
func (b *bond) park(source string, p parked) bool {
	p.bytes = weight(&p.Batch)
	if b.batches == maxParked || b.bytes+p.bytes > maxOwed {
		return true
	}
	r := b.rival(source, p.By.Name)
	if r == nil {
		return true
	}
	kept := b.purse.take(p.bytes, anyPart)
	if kept {
		r.parked = append(r.parked, p)
		b.batches, b.bytes = b.batches+1, b.bytes+p.bytes
	}
	b.prune()
	return kept
}

// unpark gives back what a parked batch has taken.
func (b *bond) unpark(p *parked) {
	b.batches, b.bytes = b.batches-1, b.bytes-p.bytes
	b.purse.give(p.bytes)
}

// prune drops the rivals that have nothing parked.
func (b *bond) prune() {
	b.rivals = slices.DeleteFunc(b.rivals, func(r *rival) bool { return len(r.parked) == 0 })
}

// restart forgets everything.
func (b *bond) restart() {
	b.purse.give(b.bytes)
	*b = bond{purse: b.purse}
}

// bind makes a rival one who speaks, and returns what it has parked. Alone, it takes everybody's place.
func (b *bond) bind(r *rival, alone bool) []parked {
	if alone {
		b.voices = b.voices[:0]
	}
	b.voices = append(b.voices, r.voice)
	for i := range r.parked {
		b.unpark(&r.parked[i])
	}
	b.rivals = slices.DeleteFunc(b.rivals, func(x *rival) bool { return x == r })
	return r.parked
}

// expire drops what rivals have parked of lives that are over.
func (b *bond) expire(epoch uint64) {
	for _, r := range b.rivals {
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

// successor returns the rival that tells of the latest life; nil where there is none.
func (b *bond) successor() (next *rival) {
	for _, r := range b.rivals {
		if next == nil || r.parked[0].Epoch > next.parked[0].Epoch {
			next = r
		}
	}
	return next
}

// witness returns the rival by another source that has brought the same batch; nil where there is none.
func (b *bond) witness(s sum) *rival {
	for _, r := range b.rivals {
		if b.of(r.source) == nil && slices.ContainsFunc(r.parked, func(p parked) bool { return p.sum == s }) {
			return r
		}
	}
	return nil
}

// remember notes a batch that was applied.
func (b *bond) remember(s sum) { b.recent[s.seq%maxRecent] = s }

// knows reports whether a batch of that number was applied lately, and whether it said the same.
func (b *bond) knows(s sum) (known, same bool) {
	old := b.recent[s.seq%maxRecent]
	return old.sum != 0 && old.epoch == s.epoch && old.seq == s.seq, old == s
}

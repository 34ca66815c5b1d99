package events

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/zeebo/xxh3"
)

// hear reports whether b is taken: its speaker is bound, or is so from now on. Who speaks first for a replica is bound
// to it, by one name a source, until it says that the replica has ended, or it has been silent for the target's
// Patience. What anybody else says in the replica's name changes nothing. Yet two kinds of it are kept, within bounds:
// what tells of a later life is taken up when the bound are silent; and what another source brings is taken up, and the
// source bound as well, once it brings the very batch that the bound have brought. Under s.mu.
func (f *Feed) hear(s *shelf, l *lane, source string, b *Batch) bool {
	if source == "" || s.target.Patience <= 0 {
		return true
	}
	now := f.now()
	if b.By.At.IsZero() {
		b.By.At = now
	}
	v := s.bond.of(source)
	if v != nil && v.name == b.By.Name {
		v.speaks(l, b.By, now)
		return true
	}
	if s.order.past(b) {
		return f.again(s, l, source, b, v == nil)
	}
	if s.bond.silent(source, b.By.At, now, s.target.Patience) {
		f.succeed(s, l, source, b, now)
		return true
	}
	f.tally.foreign.Add(1)
	if b.Epoch > s.order.epoch || v == nil {
		if !s.bond.park(source, parked{Batch: *b, lane: l, sum: sumOf(b)}) {
			f.tally.crowded.Add(1)
		}
	}
	return false
}

// past reports whether what b tells is known: it is of an earlier life, or at or below what was applied last.
func (q *sequence) past(b *Batch) bool {
	return q.started && (b.Epoch < q.epoch || b.Epoch == q.epoch && q.seen && b.Seq <= q.last)
}

// again takes what cannot change anything of somebody who is not bound. Who repeats what was applied lately, by another
// source, is bound from then on; who says something else is refused. It reports whether b is to be taken.
func (f *Feed) again(s *shelf, l *lane, source string, b *Batch, another bool) bool {
	if b.Epoch < s.order.epoch {
		f.tally.oldEpochs.Add(1)
		return false
	}
	known, same := s.bond.knows(sumOf(b))
	if another && same && len(s.bond.voices) > 0 {
		f.join(s, &rival{voice: voice{source: source, name: b.By.Name}}, l, b.By)
		return true
	}
	if known && !same || !another {
		f.tally.foreign.Add(1)
	} else {
		f.tally.duplicates.Add(1)
	}
	return false
}

// succeed binds who spoke while everybody else was silent, and takes what it has said before.
func (f *Feed) succeed(s *shelf, l *lane, source string, b *Batch, now time.Time) {
	r := &rival{voice: voice{source: source, name: b.By.Name}}
	for _, known := range s.bond.rivals {
		if known.source == source && known.name == b.By.Name {
			r = known
		}
	}
	r.speaks(l, b.By, now)
	f.takeUp(s, s.bond.bind(r, true))
}

// join binds one more source.
func (f *Feed) join(s *shelf, r *rival, l *lane, by Speaker) {
	for _, known := range s.bond.rivals {
		if known.source == r.source && known.name == r.name {
			r = known
		}
	}
	r.speaks(l, by, f.now())
	f.takeUp(s, s.bond.bind(r, false))
}

// takeUp admits what was parked.
func (f *Feed) takeUp(s *shelf, all []parked) {
	for _, p := range all {
		f.admit(s, p.lane, p.Batch)
		if p.lane != nil && p.lane.closed.Load() {
			s.order.leave(p.lane) // it closed while its batches were parked
		}
	}
}

// heard follows what was just applied: the bond ends with the replica's life, and sources that brought the same are
// bound.
func (f *Feed) heard(s *shelf, b *Batch) {
	if s.target.Patience <= 0 {
		return
	}
	told := sumOf(b)
	s.bond.remember(told)
	s.bond.expire(b.Epoch)
	if slices.ContainsFunc(b.Events, func(e Event) bool { return e.Kind == Shutdown }) {
		s.bond.voices = s.bond.voices[:0]
		f.settle(s, f.now())
		return
	}
	if r := s.bond.witness(told); r != nil {
		last := r.parked[len(r.parked)-1]
		f.join(s, r, last.lane, last.By)
	}
}

// settle lets a rival take over where everybody who is bound has been silent for long enough by now. Under s.mu.
func (f *Feed) settle(s *shelf, now time.Time) {
	r := s.bond.successor()
	if r == nil || s.gone || !s.bond.silent("", now, now, s.target.Patience) {
		return
	}
	last := r.parked[len(r.parked)-1]
	r.speaks(last.lane, last.By, now)
	f.takeUp(s, s.bond.bind(r, true))
}

// Settle lets those take over who spoke for replicas whose own speakers have been silent for long. It is to be called
// now and then.
func (f *Feed) Settle() {
	now := f.now()
	for _, s := range f.all() {
		s.mu.Lock()
		f.settle(s, now)
		s.mu.Unlock()
	}
}

// Release is told that a replica is gone, whatever its speakers have said: who speaks next is bound, but where one
// still holds it by a lane that is open.
func (f *Feed) Release(replica string) {
	s := f.known(replica)
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bond.gone()
	f.settle(s, f.now())
}

// Voices is who speaks for a replica, as source/name, and who would.
type Voices struct {
	Bound  []string `json:"bound"`
	Rivals []string `json:"rivals,omitempty"`
}

// Voices returns them by replica.
func (f *Feed) Voices() map[string]Voices {
	all := map[string]Voices{}
	for _, name := range f.names() {
		f.feedMu.RLock()
		s := f.shelves[name]
		f.feedMu.RUnlock()
		if s != nil {
			all[name] = s.voices()
		}
	}
	return all
}

func (s *shelf) voices() (v Voices) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.bond.voices {
		v.Bound = append(v.Bound, s.bond.voices[i].String())
	}
	for _, r := range s.bond.rivals {
		v.Rivals = append(v.Rivals, r.String())
	}
	return v
}

func (v *voice) String() string {
	if v.name == "" {
		return v.source
	}
	return v.source + "/" + v.name
}

// sumOf sums up what b says. It is never zero.
func sumOf(b *Batch) sum {
	var space [1024]byte
	out := space[:0]
	if n := weight(b); n > len(space) {
		out = make([]byte, 0, n) // more than is written
	}
	for i := range b.Events {
		e := &b.Events[i]
		out = append(out, byte(e.Kind), byte(e.Tier))
		for _, n := range [...]uint64{e.Parent, uint64(e.BlockSize), uint64(len(e.Hashes)), uint64(len(e.Tokens)),
			uint64(len(e.Adapter)), uint64(len(e.Salt))} {
			out = binary.LittleEndian.AppendUint64(out, n)
		}
		out = append(append(out, e.Adapter...), e.Salt...)
		if e.Root {
			out = append(out, 1)
		}
		for _, h := range e.Hashes {
			out = binary.LittleEndian.AppendUint64(out, h)
		}
		for _, t := range e.Tokens {
			out = binary.LittleEndian.AppendUint32(out, t)
		}
	}
	return sum{b.Epoch, b.Seq, xxh3.Hash(out) | 1}
}

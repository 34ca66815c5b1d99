package events

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/zeebo/xxh3"
)

// authorize returns true if b may be applied: its publisher holds the replica's lease, or gets it now. The first
// publisher gets the lease, one name a source, until it tells of the replica's end or has been silent for the target's
// Patience. Batches of other publishers change nothing. Two kinds of them are parked, within bounds: those of a later
// epoch are applied once the holders are silent; those of another source are applied, and the source becomes a holder
// too, once it brings the same batch as a holder.
func (s locked) authorize(l *session, source string, b *Batch) bool {
	if source == "" || s.target.Patience <= 0 {
		return true
	}
	now := s.now()
	if b.By.At.IsZero() {
		b.By.At = now
	}
	v := s.lease.of(source)
	if v != nil && v.name == b.By.Name {
		v.speaks(l, b.By, now)
		return true
	}
	if s.order.past(b) {
		return s.replayed(l, source, b, v == nil)
	}
	if s.lease.silent(source, b.By.At, now, s.target.Patience) {
		s.takeOver(l, source, b, now)
		return true
	}
	s.tally.foreign.Add(1)
	if b.Epoch > s.order.epoch || v == nil {
		if !s.lease.park(source, parked{Batch: *b, session: l, sum: sumOf(b)}) {
			s.tally.crowded.Add(1)
		}
	}
	return false
}

// past returns true if b is of an earlier epoch, or not after the batch that was applied last.
func (q *sequence) past(b *Batch) bool {
	return q.started && (b.Epoch < q.epoch || b.Epoch == q.epoch && q.seen && b.Seq <= q.last)
}

// replayed judges a past batch of a publisher without the lease. Another source that repeats what was applied lately
// becomes a holder; a batch with other content is refused. It returns true if b may be applied.
func (s locked) replayed(l *session, source string, b *Batch, another bool) bool {
	if b.Epoch < s.order.epoch {
		s.tally.oldEpochs.Add(1)
		return false
	}
	known, same := s.lease.knows(sumOf(b))
	if another && same && len(s.lease.bound) > 0 {
		s.addSource(&challenger{publisher: publisher{source: source, name: b.By.Name}}, l, b.By)
		return true
	}
	if known && !same || !another {
		s.tally.foreign.Add(1)
	} else {
		s.tally.duplicates.Add(1)
	}
	return false
}

// takeOver gives the lease to a publisher while all holders are silent, and applies its parked batches.
func (s locked) takeOver(l *session, source string, b *Batch, now time.Time) {
	r := &challenger{publisher: publisher{source: source, name: b.By.Name}}
	for _, known := range s.lease.challengers {
		if known.source == source && known.name == b.By.Name {
			r = known
		}
	}
	r.speaks(l, b.By, now)
	s.applyParked(s.lease.bind(r, true))
}

// addSource makes a publisher of one more source a holder.
func (s locked) addSource(r *challenger, l *session, by Speaker) {
	for _, known := range s.lease.challengers {
		if known.source == r.source && known.name == r.name {
			r = known
		}
	}
	r.speaks(l, by, s.now())
	s.applyParked(s.lease.bind(r, false))
}

// applyParked admits parked batches.
func (s locked) applyParked(all []parked) {
	for _, p := range all {
		s.admit(p.session, p.Batch)
		if p.session != nil && p.session.closed.Load() {
			s.order.leave(p.session) // it closed while its batches were parked
		}
	}
}

// onApplied is called after a batch was applied: a Shutdown ends the lease, and a source that brought the same batch
// becomes a holder.
func (s locked) onApplied(b *Batch) {
	if s.target.Patience <= 0 {
		return
	}
	told := sumOf(b)
	s.lease.remember(told)
	s.lease.expire(b.Epoch)
	if slices.ContainsFunc(b.Events, func(e Event) bool { return e.Kind == Shutdown }) {
		s.lease.bound = s.lease.bound[:0]
		s.replaceSilent(s.now())
		return
	}
	if r := s.lease.witness(told); r != nil {
		last := r.parked[len(r.parked)-1]
		s.addSource(r, last.session, last.By)
	}
}

// replaceSilent lets a challenger take over if all holders have been silent for the target's Patience.
func (s locked) replaceSilent(now time.Time) {
	r := s.lease.successor()
	if r == nil || s.gone || !s.lease.silent("", now, now, s.target.Patience) {
		return
	}
	last := r.parked[len(r.parked)-1]
	r.speaks(last.session, last.By, now)
	s.applyParked(s.lease.bind(r, true))
}

// ReplaceSilent lets challengers take over leases whose holders have been silent for long. It is to be called now and
// then.
func (f *Feed) ReplaceSilent() {
	now := f.now()
	for _, s := range f.all() {
		s.mu.Lock()
		locked{f, s}.replaceSilent(now)
		s.mu.Unlock()
	}
}

// Release is called when a replica is gone, whatever its publishers said: the next publisher gets the lease, unless a
// holder's session is still open.
func (f *Feed) Release(replica string) {
	s := f.known(replica)
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease.gone()
	locked{f, s}.replaceSilent(f.now())
}

// Publishers are the holders of a replica's lease, as source/name, and the challengers.
type Publishers struct {
	Bound       []string `json:"bound"`
	Challengers []string `json:"rivals,omitempty"`
}

// Publishers returns the publishers of each replica, by its name.
func (f *Feed) Publishers() map[string]Publishers {
	all := map[string]Publishers{}
	for _, name := range f.names() {
		f.feedMu.RLock()
		s := f.replicas[name]
		f.feedMu.RUnlock()
		if s != nil {
			all[name] = s.publishers()
		}
	}
	return all
}

func (s *replicaState) publishers() (v Publishers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.lease.bound {
		v.Bound = append(v.Bound, s.lease.bound[i].String())
	}
	for _, r := range s.lease.challengers {
		v.Challengers = append(v.Challengers, r.String())
	}
	return v
}

func (v *publisher) String() string {
	if v.name == "" {
		return v.source
	}
	return v.source + "/" + v.name
}

// sumOf hashes the content of b. The hash is never zero.
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

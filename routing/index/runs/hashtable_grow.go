package runs

const (
	growAt       = 13 // of 16 slots: above it a segment grows
	tombstonesAt = 14 // of 16 slots: up to which tombstones may fill one that cannot grow
	growBy       = 2  // a segment grows by the half
)

// room makes sure that one more entry for p fits, and grows its segment if necessary. It returns false if the limit or
// the system refuses.
func (t *hashtable) room(p uint64) bool {
	s, f := t.segment(p), t.occupancyOf(p)
	l := s.Load()
	if uint64(f.used+1)*16 <= l.n*bucketSlots*growAt {
		return true
	}
	n := l.n + l.n/growBy
	if f.dead > f.used/4 {
		n = l.n // it is the tombstones that fill it
	}
	more := int64(n-l.n) * 64 // for a moment it is both
	if t.charge(more) {
		if t.rebuild(s, f, n) {
			return true
		}
		t.charge(-more)
	}
	return t.cleanTombstones(s, f)
}

// cleanTombstones makes sure that one more entry fits into a segment that cannot grow, and removes its tombstones if
// those are in the way.
func (t *hashtable) cleanTombstones(s *segment, f *occupancy) bool {
	slots := s.Load().n * bucketSlots
	if uint64(f.used-f.dead+1)*16 > slots*growAt {
		return false
	}
	return uint64(f.used+1)*16 <= slots*tombstonesAt || t.rebuild(s, f, slots/bucketSlots)
}

// rebuild gives a segment n buckets. It returns false if the system refuses them.
func (t *hashtable) rebuild(s *segment, f *occupancy, n uint64) bool {
	fresh, err := newBuckets(n)
	if err != nil {
		return false
	}
	l := s.Load()
	t.rehash(f, l, fresh)
	s.Store(fresh)
	if l.pages.base != nil {
		l.pages.forget()
	}
	return true
}

func (t *hashtable) charge(bytes int64) bool { return t.mem == nil || t.mem.takeMapped(bytes) }

// rehash fills fresh with the entries of l.
func (t *hashtable) rehash(f *occupancy, l, fresh *buckets) {
	f.used, f.dead = 0, 0
	var entries, hashes [64]uint64
	n := 0
	flush := func() {
		for i, e := range entries[:n] {
			hashes[i] = t.hash(e) // far loads, none of which waits for another
		}
		for i, e := range entries[:n] {
			t.place(fresh, hashes[i], e)
		}
		f.used += n
		n = 0
	}
	for i := range l.n {
		for _, e := range l.at(i) {
			if entryID(e) == 0 {
				continue
			}
			entries[n] = e
			if n++; n == len(entries) {
				flush()
			}
		}
	}
	flush()
}

// place puts e into buckets that no reader knows yet.
func (t *hashtable) place(l *buckets, p, e uint64) {
	for i := t.home(p, l.n); ; {
		line := l.at(i)
		for j := range line {
			if line[j] == 0 {
				line[j] = e
				return
			}
		}
		if i++; i == l.n {
			i = 0
		}
	}
}

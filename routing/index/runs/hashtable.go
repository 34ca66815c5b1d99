package runs

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"

	"octet/kvpool"
	"octet/routing/index"
)

// An entry of a table names a block's place in 64 bits: the run (32), the offset in it (12) and a tag of the block's
// hash (20). The hash itself stands in the run only: a reader that finds a tag looks there. 0 is free; run 0 with a tag
// is a tombstone.
const (
	tombstone   = 1 << 44
	tagMask     = 0xfffff << 44
	bucketSlots = 8 // entries in a cache line
)

func mix(b kvpool.BlockHash) uint64 { return uint64(b) * index.Golden }

func newEntry(p uint64, id uint32, off int) uint64 { return p<<44 | uint64(off)<<32 | uint64(id) }

func entryID(e uint64) uint32 { return uint32(e) }
func entryOff(e uint64) int   { return int(e >> 32 & 0xfff) }

// bucket holds the entries of one cache line. While one of its slots is free, no entry that belongs into it stands in a
// later bucket.
type bucket [bucketSlots]uint64

// buckets are those of one segment, n of them. A block's is the one at its share of the segment's part of the hash
// space.
type buckets struct {
	base  unsafe.Pointer
	n     uint64
	bytes int64
	pages pages // what to unmap; zero on the heap
}

// heapBuckets is up to how many bytes of buckets live on the heap: smaller than what is worth mapping.
const heapBuckets = 32 << 10

func newBuckets(n uint64) (*buckets, error) {
	l := &buckets{n: n, bytes: int64(n) * 64}
	if l.bytes < heapBuckets {
		l.base = unsafe.Pointer(unsafe.SliceData(make([]bucket, n)))
		return l, nil
	}
	p, err := mapPages(int(l.bytes))
	if err != nil {
		return nil, err
	}
	l.base, l.pages = p.base, p
	runtime.AddCleanup(l, func(p pages) { p.unmap() }, p) // when the last reader has let go of it
	return l, nil
}

func (l *buckets) at(i uint64) *bucket { return (*bucket)(unsafe.Add(l.base, i*64)) }

// segment is an independent part of a table, so that growing stops the writer for a part only.
type segment = atomic.Pointer[buckets]

// occupancy is how full a segment is. It changes all the time, so it does not stand where readers look.
type occupancy struct {
	used int // entries and tombstones
	dead int // tombstones
}

// hashtable finds entries by hash: open addressing, by buckets, with tombstones. One writer; readers load buckets and
// slots atomically and look again when the segment was replaced meanwhile.
type hashtable struct {
	mem  *budget // charged for the buckets; nil when they are paid for otherwise
	segs []segment
	fill []occupancy
	bits uint                  // log2 of len(segs)
	hash func(e uint64) uint64 // mix of the block that an entry stands for
}

func newHashtable(mem *budget, bits uint, hash func(e uint64) uint64) *hashtable {
	t := &hashtable{mem: mem, segs: make([]segment, 1<<bits), fill: make([]occupancy, 1<<bits), bits: bits, hash: hash}
	for i := range t.segs {
		l, _ := newBuckets(2)
		t.segs[i].Store(l)
		t.charge(l.bytes)
	}
	return t
}

func (t *hashtable) segment(p uint64) *segment { return &t.segs[p>>(64-t.bits)] }

func (t *hashtable) occupancyOf(p uint64) *occupancy { return &t.fill[p>>(64-t.bits)] }

// count returns the number of entries.
func (t *hashtable) count() (n int) {
	for _, f := range t.fill {
		n += f.used - f.dead
	}
	return n
}

// home returns the bucket in which the search for p begins.
func (t *hashtable) home(p, n uint64) uint64 {
	i, _ := bits.Mul64(p<<t.bits, n)
	return i
}

// probe is a search for the entries that may be a block's.
type probe struct {
	l    *buckets
	i    uint64 // bucket
	j    int    // slot
	want uint64
	free bool
}

func (t *hashtable) probe(p uint64) probe {
	l := t.segment(p).Load()
	return probe{l: l, i: t.home(p, l.n), want: p << 44}
}

// next returns the next entry with the block's tag, 0 after the last.
func (s *probe) next() uint64 {
	for {
		line := s.l.at(s.i)
		for s.j < bucketSlots {
			e := line[s.j]
			s.j++
			if e == 0 {
				s.free = true
			} else if (e^s.want)&tagMask == 0 && entryID(e) != 0 {
				return e
			}
		}
		if s.free {
			return 0
		}
		s.j = 0
		if s.i++; s.i == s.l.n {
			s.i = 0
		}
	}
}

// slot returns where e stands, which it does; with e 0, the first place for a new entry.
func (t *hashtable) slot(p, e uint64) (line *bucket, j int) {
	l := t.segment(p).Load()
	for i := t.home(p, l.n); ; {
		line = l.at(i)
		for j = range line {
			if line[j] == e || e == 0 && line[j]&^tagMask == 0 {
				return line, j
			}
		}
		if i++; i == l.n {
			i = 0
		}
	}
}

// insert adds e. The segment has a place, see room.
func (t *hashtable) insert(p, e uint64) {
	line, j := t.slot(p, 0)
	if s := t.occupancyOf(p); line[j] == 0 {
		s.used++
	} else {
		s.dead--
	}
	atomic.StoreUint64(&line[j], e)
}

// replace puts e in the place of old, which is there.
func (t *hashtable) replace(p, old, e uint64) {
	line, j := t.slot(p, old)
	put64(&line[j], e)
}

// remove removes e, which is there. A bucket that has no free slot gets none: entries that it had no room for are
// behind it.
func (t *hashtable) remove(p, e uint64) {
	line, j := t.slot(p, e)
	s := t.occupancyOf(p)
	for _, other := range line {
		if other == 0 {
			s.used--
			put64(&line[j], 0)
			return
		}
	}
	s.dead++
	put64(&line[j], tombstone)
}

// prefetch loads the home buckets of blocks, all at once, and returns something that depends on them.
func (t *hashtable) prefetch(blocks []kvpool.BlockHash) (sum uint64) {
	for _, b := range blocks {
		p := mix(b)
		l := t.segment(p).Load()
		sum += l.at(t.home(p, l.n))[0]
	}
	return sum
}

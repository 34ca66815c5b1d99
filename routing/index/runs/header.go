package runs

import (
	"sync/atomic"
	"unsafe"

	"octet/kvpool"
	"octet/routing/index"
)

const (
	runSize      = 128 + (index.Words-4)/4*64 // whole cache lines
	maxPrefixes  = (runSize - 40 - 8*index.Words) / 4
	maxFragments = 64
	runBits      = chunkBits - 7 - (index.Words-4)/4 // log2 of the runs in a chunk
)

// run is the header of a run: a stretch of consecutive blocks, and which replicas hold what of it. It is whole cache
// lines outside the heap; the first line is all that most queries read. The writer alone writes it, under seq; readers
// load every word atomically.
type run struct {
	seq       uint32 // odd while the writer is at it
	hashes    uint32 // position of its hashes in the arena
	meta      meta
	first     uint64 // hash
	last      uint64 // hash
	full      index.HostBitmap
	fragments uint32 // position of its fragments in the arena
	_         uint32
	prefixes  [maxPrefixes]uint32 // prefix holders: host<<16 | reach
}

// meta is the part of a header that fits into one word. A run that is not in use has the zero meta. Its use is the
// only part of a run that readers write, by compare-and-swap; a reader and the writer may each lose the other's.
type meta uint64

const (
	useShift = 62
	useMask  = meta(3) << useShift
)

func newMeta(s *holders, class, fragmentsClass int) meta {
	return meta(s.len) | meta(len(s.prefixes))<<16 | meta(class)<<24 | meta(fragmentsClass)<<32 | meta(
		len(s.fragments))<<40
}

func (m meta) len() int            { return int(m & 0xffff) }
func (m meta) prefixes() int       { return int(m >> 16 & 0xff) }
func (m meta) class() int          { return int(m >> 24 & 0xff) }
func (m meta) fragmentsClass() int { return int(m >> 32 & 0xff) }
func (m meta) fragments() int      { return int(m >> 40 & 0xff) }
func (m meta) use() int            { return int(m >> useShift) }

// runAt returns the header of run id, which is below what the slab holds.
func runAt(dir []unsafe.Pointer, id uint32) *run {
	return (*run)(unsafe.Add(dir[id>>runBits], uintptr(id&(1<<runBits-1))*runSize))
}

// at returns the header of a run.
func (v *view) at(id uint32) *run { return runAt(*v.runs.dir.Load(), id) }

// hashes returns a run's blocks. Owned by the writer.
func (st *storage) hashes(r *run) []uint64 { return st.arena.array(r.hashes, r.meta.len()) }

// read makes s the holders of r.
func (st *storage) read(r *run, s *holders) {
	s.len, s.full = r.meta.len(), r.full
	s.prefixes, s.fragments = s.prefixes[:0], s.fragments[:0]
	for _, p := range r.prefixes[:r.meta.prefixes()] {
		s.prefixes = append(s.prefixes, prefix{index.HostID(p >> 16), uint16(p)})
	}
	if n := r.meta.fragments(); n > 0 {
		for _, i := range st.arena.array(r.fragments, n) {
			s.fragments = append(s.fragments, decodeFragment(i))
		}
	}
}

// write makes r a run held as s says, whose hashes are the first of its array. There is room.
func (st *storage) write(r *run, s *holders) {
	hashes := st.arena.array(r.hashes, s.len)
	fragmentsClass := st.writeFragments(r, s)
	atomic.AddUint32(&r.seq, 1)
	put64((*uint64)(&r.meta), uint64(newMeta(s, r.meta.class(), fragmentsClass)|r.meta&useMask))
	put64(&r.first, hashes[0])
	put64(&r.last, hashes[s.len-1])
	for i := range s.full {
		put64(&r.full[i], s.full[i])
	}
	for i, p := range s.prefixes {
		put32(&r.prefixes[i], uint32(p.host)<<16|uint32(p.reach))
	}
	atomic.AddUint32(&r.seq, 1)
}

// writeFragments writes the fragments, which no reader looks at, to the arena, and returns the size class of their
// array.
func (st *storage) writeFragments(r *run, s *holders) (class int) {
	had := r.meta.fragments() > 0
	if len(s.fragments) > 0 {
		class = int(classOf[len(s.fragments)])
	}
	if had && (len(s.fragments) == 0 || class != r.meta.fragmentsClass()) {
		st.arena.free(r.fragments, r.meta.fragmentsClass())
		had = false
	}
	if len(s.fragments) == 0 {
		return 0
	}
	if !had {
		r.fragments = st.arena.allocate(class)
	}
	to := st.arena.array(r.fragments, len(s.fragments))
	for j, i := range s.fragments {
		to[j] = i.encode()
	}
	return class
}

// moveHashes moves r's hashes to a new array for n of them. There is room.
func (st *storage) moveHashes(r *run, n int) {
	class := int(classOf[n])
	if class == r.meta.class() {
		return
	}
	pos := st.arena.allocate(class)
	to := st.arena.array(pos, n)
	for i, b := range st.arena.array(r.hashes, min(n, r.meta.len())) {
		put64(&to[i], b)
	}
	old, oldClass := r.hashes, r.meta.class()
	atomic.AddUint32(&r.seq, 1)
	put32(&r.hashes, pos)
	put64((*uint64)(&r.meta), uint64(r.meta&^(0xff<<24)|meta(class)<<24))
	atomic.AddUint32(&r.seq, 1)
	st.arena.free(old, oldClass)
}

// blocksOf returns hashes as blocks.
func blocksOf(words []uint64) []kvpool.BlockHash {
	return unsafe.Slice((*kvpool.BlockHash)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

package runs

import (
	"sync/atomic"
	"unsafe"

	"octet/kvpool"
	"octet/routing/index"
)

const (
	runSize  = 128 + (index.Words-4)/4*64 // whole cache lines
	maxParts = (runSize - 40 - 8*index.Words) / 4
	maxIsles = 64
	runBits  = chunkBits - 7 - (index.Words-4)/4 // log2 of the runs in a chunk
)

// run is a stretch of consecutive blocks, and who holds what of it: the header, whole cache lines outside the heap. The
// first line is all that most queries read. Written by the writer alone, under seq; readers load every word atomically.
type run struct {
	seq   uint32 // odd while the writer is at it
	words uint32 // position of its hashes
	meta  meta
	first uint64 // hash
	last  uint64 // hash
	full  index.HostBitmap
	isles uint32 // position of the isles
	_     uint32
	parts [maxParts]uint32 // host<<16 | reach
}

// meta is what of a run fits into one word. A run that is not in use has the zero meta. Its use is all of a run that
// readers write, by compare-and-swap; they may lose it to the writer, and he to them.
type meta uint64

const (
	useShift = 62
	useMask  = meta(3) << useShift
)

func newMeta(s *shape, class, islesClass int) meta {
	return meta(s.len) | meta(len(s.parts))<<16 | meta(class)<<24 | meta(islesClass)<<32 | meta(len(s.isles))<<40
}

func (m meta) len() int        { return int(m & 0xffff) }
func (m meta) parts() int      { return int(m >> 16 & 0xff) }
func (m meta) class() int      { return int(m >> 24 & 0xff) }
func (m meta) islesClass() int { return int(m >> 32 & 0xff) }
func (m meta) isles() int      { return int(m >> 40 & 0xff) }
func (m meta) use() int        { return int(m >> useShift) }

// at returns the run id, which is below what the slab holds.
func runAt(dir []unsafe.Pointer, id uint32) *run {
	return (*run)(unsafe.Add(dir[id>>runBits], uintptr(id&(1<<runBits-1))*runSize))
}

func (t *runTree) at(id uint32) *run { return runAt(*t.runs.dir.Load(), id) }

// hashes returns a run's blocks. Owned by the writer.
func (t *runTree) hashes(r *run) []uint64 { return t.words.array(r.words, r.meta.len()) }

// read makes s the shape of r.
func (t *runTree) read(r *run, s *shape) {
	s.len, s.full = r.meta.len(), r.full
	s.parts, s.isles = s.parts[:0], s.isles[:0]
	for _, p := range r.parts[:r.meta.parts()] {
		s.parts = append(s.parts, part{index.HostID(p >> 16), uint16(p)})
	}
	if n := r.meta.isles(); n > 0 {
		for _, i := range t.words.array(r.isles, n) {
			s.isles = append(s.isles, isleOf(i))
		}
	}
}

// write makes r a run of shape s, whose hashes are the first of its array. There is room.
func (t *runTree) write(r *run, s *shape) {
	hashes := t.words.array(r.words, s.len)
	islesClass := t.writeIsles(r, s)
	atomic.AddUint32(&r.seq, 1)
	put64((*uint64)(&r.meta), uint64(newMeta(s, r.meta.class(), islesClass)|r.meta&useMask))
	put64(&r.first, hashes[0])
	put64(&r.last, hashes[s.len-1])
	for i := range s.full {
		put64(&r.full[i], s.full[i])
	}
	for i, p := range s.parts {
		put32(&r.parts[i], uint32(p.host)<<16|uint32(p.reach))
	}
	atomic.AddUint32(&r.seq, 1)
}

// writeIsles puts the isles, which no reader looks at, where they belong, and returns the class of that array.
func (t *runTree) writeIsles(r *run, s *shape) (class int) {
	had := r.meta.isles() > 0
	if len(s.isles) > 0 {
		class = int(classOf[len(s.isles)])
	}
	if had && (len(s.isles) == 0 || class != r.meta.islesClass()) {
		t.words.put(r.isles, r.meta.islesClass())
		had = false
	}
	if len(s.isles) == 0 {
		return 0
	}
	if !had {
		r.isles = t.words.take(class)
	}
	to := t.words.array(r.isles, len(s.isles))
	for j, i := range s.isles {
		to[j] = i.word()
	}
	return class
}

// rehome moves r's hashes to a new array for n of them. There is room.
func (t *runTree) rehome(r *run, n int) {
	class := int(classOf[n])
	if class == r.meta.class() {
		return
	}
	pos := t.words.take(class)
	to := t.words.array(pos, n)
	for i, b := range t.words.array(r.words, min(n, r.meta.len())) {
		put64(&to[i], b)
	}
	old, oldClass := r.words, r.meta.class()
	atomic.AddUint32(&r.seq, 1)
	put32(&r.words, pos)
	put64((*uint64)(&r.meta), uint64(r.meta&^(0xff<<24)|meta(class)<<24))
	atomic.AddUint32(&r.seq, 1)
	t.words.put(old, oldClass)
}

// blocksOf views words as hashes.
func blocksOf(words []uint64) []kvpool.BlockHash {
	return unsafe.Slice((*kvpool.BlockHash)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

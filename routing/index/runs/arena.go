package runs

import (
	"fmt"
	"unsafe"

	"octet/internal/poison"
)

const (
	wordBits   = chunkBits - 3 // log2 of the words in a chunk
	maxRun     = 4096          // blocks a run, and words an array
	cutReserve = 3 * maxRun    // words of the newest chunk that cutting runs may take and new runs may not
)

// classSizes are the capacities of arrays, in words: two to each doubling, so that at most a third is unused.
var classSizes = func() (sizes []int) {
	for n := 1; n <= maxRun; n *= 2 {
		sizes = append(sizes, n)
		if n >= 2 && n < maxRun {
			sizes = append(sizes, n+n/2)
		}
	}
	return sizes
}()

const classes = 24

// classOf is the smallest class for each number of words.
var classOf = func() (of [maxRun + 1]uint8) {
	class := uint8(0)
	for n := range of {
		if n > classSizes[class] {
			class++
		}
		of[n] = class
	}
	return of
}()

// arena allocates arrays of 64-bit words by size class. Position 0 is never allocated. Owned by the writer; a reader
// follows the positions that a run's header gives it.
type arena struct {
	*slab
	next, end     uint32          // what of the newest chunk was not handed out yet
	freeLists     [classes]uint32 // of each class, the first free array; each begins with the position of the next
	idleWords     int             // words in free arrays
	emptiedChunks []uint32        // chunks whose room was given back
	lastEmptied   uint32          // the chunk that was vacated last
}

func newArena(m *budget) arena { return arena{slab: newSlab(m, 1<<chunkBits), next: 1, end: 1} }

// wordAt returns the word at pos. The others of its array follow it.
func wordAt(dir []unsafe.Pointer, pos uint32) unsafe.Pointer {
	return unsafe.Add(dir[pos>>wordBits], uintptr(pos&(1<<wordBits-1))*8)
}

// array returns n words from pos on.
func (w *arena) array(pos uint32, n int) []uint64 {
	return unsafe.Slice((*uint64)(wordAt(*w.dir.Load(), pos)), n)
}

// canAllocate makes sure that an array of n words can be allocated for a new run.
func (w *arena) canAllocate(n int) bool {
	return w.freeLists[classOf[n]] != 0 || int(w.end-w.next) >= cutReserve+n+n/2 || w.grow() ||
		w.larger(int(classOf[n])) < classes
}

// larger returns the smallest class above class with a free array, classes if no such class has one.
func (w *arena) larger(class int) int {
	for class++; class < classes && w.freeLists[class] == 0; {
		class++
	}
	return class
}

// reserve makes sure that arrays of n words together can be allocated: from the rest of the newest chunk, else from a
// new chunk, else from a free array.
func (w *arena) reserve(n int) bool {
	return int(w.end-w.next) >= n || w.grow() || w.recycle(n)
}

// grow begins a new chunk.
func (w *arena) grow() bool {
	last := uint32(w.chunks())
	if n := len(w.emptiedChunks); n > 0 && w.mem.takeMapped(1<<chunkBits) {
		last = w.emptiedChunks[n-1]
		w.emptiedChunks = w.emptiedChunks[:n-1]
	} else if n > 0 || last == 1<<(32-wordBits) || !w.extend(1<<chunkBits) {
		return false
	}
	last <<= wordBits
	w.switchTo(max(1, last), last+(1<<wordBits-1)) // the last word of a chunk stays unused: 32 bits hold the end
	return true
}

// recycle makes a free array of at least n words the newest chunk.
func (w *arena) recycle(n int) bool {
	if n > maxRun {
		return false
	}
	for class := int(classOf[n]); class < classes; class++ {
		if w.freeLists[class] != 0 {
			pos := w.allocate(class)
			w.switchTo(pos, pos+uint32(classSizes[class]))
			return true
		}
	}
	return false
}

// switchTo allocates from [next, end) from now on, and frees what was left before.
func (w *arena) switchTo(next, end uint32) {
	w.freeRange(w.next, w.end)
	w.next, w.end = next, end
}

// freeRange frees words [next, end), in as few arrays as they make.
func (w *arena) freeRange(next, end uint32) {
	for next < end {
		left := int(end - next)
		class := int(classOf[min(left, maxRun)])
		if classSizes[class] > left {
			class--
		}
		w.free(next, class)
		next += uint32(classSizes[class])
	}
}

// splitLarger splits the smallest free array that is larger than a class, if any, into one of the class and the rest.
func (w *arena) splitLarger(class int) {
	if from := w.larger(class); from < classes {
		pos := w.allocate(from)
		w.freeRange(pos+uint32(classSizes[class]), pos+uint32(classSizes[from]))
		w.free(pos, class)
	}
}

// allocate returns an array of a class. There is room.
func (w *arena) allocate(class int) uint32 {
	if w.freeLists[class] == 0 && int(w.end-w.next) < cutReserve+classSizes[class] {
		w.splitLarger(class)
	}
	if pos := w.freeLists[class]; pos != 0 {
		w.freeLists[class] = uint32(w.array(pos, 1)[0])
		w.idleWords -= classSizes[class]
		return pos
	}
	pos := w.next
	if w.next += uint32(classSizes[class]); w.next > w.end {
		panic(fmt.Sprintf("index: array of %d words at %d, but the chunk ends at %d", classSizes[class], pos, w.end))
	}
	return pos
}

// free frees an array, which may be allocated again at once. A reader that still looks at it finds that the run's seq
// has gone on, and discards what it has read.
func (w *arena) free(pos uint32, class int) {
	if poison.On {
		words := w.array(pos, classSizes[class])
		for i := range words {
			put64(&words[i], poison.Word)
		}
	}
	put64(&w.array(pos, 1)[0], uint64(w.freeLists[class]))
	w.freeLists[class] = pos
	w.idleWords += classSizes[class]
}

package index

import (
	"fmt"
	"unsafe"
)

const (
	wordBits  = chunkBits - 3 // log2 of the words in a chunk
	maxRun    = 4096          // blocks a run, and words an array
	wordsRoom = 4 * maxRun    // words free in the newest chunk before a change begins: more than any change takes
)

// classSizes are the capacities of arrays, in words: two to each doubling, so that at most a third is air.
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

// classOf is, for each number of words, the smallest class that holds them.
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

// words hands out arrays of 64-bit words by size class. Position 0 is never handed out. Owned by the writer; a reader follows
// the positions that a run gives it.
type words struct {
	*slab
	next, end uint32          // what of the newest chunk was not handed out yet
	free      [classes]uint32 // of each class, the first free array; each begins with the position of the next
}

func newWords(m *memory) words { return words{slab: newSlab(m, 1<<chunkBits), next: 1, end: 0} }

// at returns the word at pos. It is followed by the others of its array.
func wordAt(dir []unsafe.Pointer, pos uint32) unsafe.Pointer {
	return unsafe.Add(dir[pos>>wordBits], uintptr(pos&(1<<wordBits-1))*8)
}

// array returns n words from pos on.
func (w *words) array(pos uint32, n int) []uint64 {
	return unsafe.Slice((*uint64)(wordAt(*w.dir.Load(), pos)), n)
}

// room makes sure that wordsRoom words can be handed out.
func (w *words) room() bool {
	if int64(w.end)-int64(w.next) >= wordsRoom {
		return true
	}
	if w.chunks() >= 1<<(32-wordBits) || !w.extend(1<<chunkBits) {
		return false
	}
	for left := int64(w.end) - int64(w.next); left > 0; left = int64(w.end) - int64(w.next) {
		class := classOf[min(left, maxRun)]
		if int64(classSizes[class]) > left {
			class--
		}
		w.put(w.next, int(class))
		w.next += uint32(classSizes[class])
	}
	last := uint32(w.chunks()-1) << wordBits
	w.next, w.end = max(1, last), last+(1<<wordBits-1) // the last word of a chunk stays unused: 32 bits hold the end
	return true
}

// take hands out an array of a class. There is room.
func (w *words) take(class int) uint32 {
	if pos := w.free[class]; pos != 0 {
		w.free[class] = uint32(w.array(pos, 1)[0])
		return pos
	}
	pos := w.next
	if w.next += uint32(classSizes[class]); w.next > w.end {
		panic(fmt.Sprintf("index: array of %d words at %d, but the chunk ends at %d", classSizes[class], pos, w.end))
	}
	return pos
}

// put takes an array back.
func (w *words) put(pos uint32, class int) {
	put64(&w.array(pos, 1)[0], uint64(w.free[class]))
	w.free[class] = pos
}

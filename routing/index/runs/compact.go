package runs

import "slices"

// Memory that was mapped for arrays while runs were long is what headers lack when they become short. So chunks of
// arrays are emptied and given back. A chunk that is full of small arrays is emptied likewise when large ones are
// needed.

// compact empties chunks of arrays and gives them back, for the room of n bytes, at most a chunk and a bit, if an
// eighth of all arrays is unused. It looks at every run twice, and evicts those that are in the way.
func (e *evictor) compact(n int64) bool {
	const chunks = 2
	if !forgets || !e.arena.mostlyIdle() || !e.mem.spares(n, chunks<<chunkBits) {
		return false
	}
	for range chunks {
		if !e.emptyChunk(e.arena.nextToEmpty()) {
			return false
		}
	}
	return true
}

// emptyChunk evicts all runs whose hashes or fragments lie in a chunk of arrays, and gives its room back. It returns
// false if one of them is pinned; the chunk's turn comes again.
func (e *evictor) emptyChunk(chunk uint32) bool {
	in := func(pos uint32) bool { return pos>>wordBits == chunk }
	for id := uint32(1); id < e.top; id++ {
		r := e.at(id)
		if r.meta.len() == 0 || !in(r.hashes) && (r.meta.fragments() == 0 || !in(r.fragments)) {
			continue
		}
		if id == e.pinned {
			return false
		}
		e.evictRun(id)
	}
	e.arena.emptied(chunk)
	return true
}

// mostlyIdle returns true if arrays have more room than they need.
func (w *arena) mostlyIdle() bool {
	in := w.chunks() - len(w.emptiedChunks)
	return in > 3 && w.idleWords > max(2, in/8)<<wordBits
}

// fragmented returns true if most of the arrays' room is free, in pieces that are too small.
func (w *arena) fragmented() bool {
	in := w.chunks() - len(w.emptiedChunks)
	return in > 1 && w.idleWords > in<<wordBits/2
}

// nextToEmpty returns the chunk that is to be emptied next.
func (w *arena) nextToEmpty() uint32 {
	for {
		w.lastEmptied = (w.lastEmptied + 1) % uint32(w.chunks())
		if w.lastEmptied != (w.end-1)>>wordBits && !slices.Contains(w.emptiedChunks, w.lastEmptied) {
			return w.lastEmptied
		}
	}
}

// emptied gives the room of a chunk back, all of whose arrays are free.
func (w *arena) emptied(chunk uint32) {
	for class, pos := range w.freeLists {
		w.freeLists[class] = 0
		for pos != 0 {
			next := uint32(w.array(pos, 1)[0])
			if w.idleWords -= classSizes[class]; pos>>wordBits != chunk {
				w.free(pos, class)
			}
			pos = next
		}
	}
	w.maps[chunk].forget()
	w.emptiedChunks = append(w.emptiedChunks, chunk)
	w.mem.giveBack(1 << chunkBits)
}

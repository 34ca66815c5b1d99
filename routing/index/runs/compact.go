package runs

import "slices"

// Memory that was mapped for arrays while runs were long is what headers lack when they become short. So chunks of
// arrays are emptied and given back. A chunk that is full of small arrays is emptied likewise when large ones are
// needed.

// makeWay has arrays give back the room for n bytes, at most a chunk and a bit, where an eighth of all arrays lies
// idle. It looks at every run twice, and forgets those that are in the way.
func (t *runTree) makeWay(n int64) bool {
	const chunks = 2
	if !forgets || !t.words.slack() || !t.mem.spares(n, chunks<<chunkBits) {
		return false
	}
	for range chunks {
		if !t.vacate(t.words.turn()) {
			return false
		}
	}
	return true
}

// vacate forgets all runs whose hashes or isles lie in a chunk of arrays, and gives its room back. It reports false
// where one of them is being worked on; the chunk's turn comes again.
func (t *runTree) vacate(chunk uint32) bool {
	in := func(pos uint32) bool { return pos>>wordBits == chunk }
	for id := uint32(1); id < t.top; id++ {
		r := t.at(id)
		if r.meta.len() == 0 || !in(r.words) && (r.meta.isles() == 0 || !in(r.isles)) {
			continue
		}
		if id == t.pinned {
			return false
		}
		t.discard(id)
	}
	t.words.vacate(chunk)
	return true
}

// slack reports whether arrays have more room than they need.
func (w *words) slack() bool {
	in := w.chunks() - len(w.vacant)
	return in > 3 && w.idle > max(2, in/8)<<wordBits
}

// shattered reports whether most of the arrays' room lies idle, in pieces that are too small.
func (w *words) shattered() bool {
	in := w.chunks() - len(w.vacant)
	return in > 1 && w.idle > in<<wordBits/2
}

// turn returns the chunk that is to be vacated next.
func (w *words) turn() uint32 {
	for {
		w.cursor = (w.cursor + 1) % uint32(w.chunks())
		if w.cursor != (w.end-1)>>wordBits && !slices.Contains(w.vacant, w.cursor) {
			return w.cursor
		}
	}
}

// vacate gives the room of a chunk back, all of whose arrays are free.
func (w *words) vacate(chunk uint32) {
	for class, pos := range w.free {
		w.free[class] = 0
		for pos != 0 {
			next := uint32(w.array(pos, 1)[0])
			if w.idle -= classSizes[class]; pos>>wordBits != chunk {
				w.put(pos, class)
			}
			pos = next
		}
	}
	w.maps[chunk].forget()
	w.vacant = append(w.vacant, chunk)
	w.mem.give(1 << chunkBits)
}

package approx

import (
	"math/bits"
	"sync/atomic"

	"octet/kvpool"
)

// heads finds runs by their first block. One writer at a time; a reader may miss a run meanwhile.
//
// Open addressing with linear probing at a load of at most 1/2, home slots by Fibonacci hashing, deletion by moving the
// rest of the cluster back, as in kvpool's map of prefixes.
type heads struct {
	slots []atomic.Pointer[run] // length a power of two
	shift uint8                 // 64 - log2(len(slots))
	used  int                   // slots in use
}

// fewHeads is how many slots there are at first.
const fewHeads = 16

func newHeads(slots int) *heads {
	return &heads{slots: make([]atomic.Pointer[run], slots), shift: uint8(65 - bits.Len(uint(slots)))}
}

func (h *heads) home(b kvpool.BlockHash) int {
	return int(uint64(b) * 0x9E3779B97F4A7C15 >> (h.shift & 63))
}

// find returns the run that begins with b, nil if no run does.
func (h *heads) find(b kvpool.BlockHash) *run {
	slots, mask := h.slots, len(h.slots)-1
	for i := h.home(b); ; i++ {
		if r := slots[i&mask].Load(); r == nil || r.first == b {
			return r
		}
	}
}

// full returns true if there is no room for another run.
func (h *heads) full() bool { return 2*h.used >= len(h.slots) }

// grown returns heads of the same runs with twice the room. Of nil it returns the first heads.
func (h *heads) grown() *heads {
	if h == nil {
		return newHeads(fewHeads)
	}
	wide := newHeads(2 * len(h.slots))
	for i := range h.slots {
		if r := h.slots[i].Load(); r != nil {
			wide.put(r)
		}
	}
	return wide
}

// put adds a run. No other begins with its first block, and there is room.
func (h *heads) put(r *run) {
	i, mask := h.home(r.first), len(h.slots)-1
	for h.slots[i].Load() != nil {
		i = (i + 1) & mask
	}
	h.slots[i].Store(r)
	h.used++
}

// slotOf returns the slot of r, which must be there.
func (h *heads) slotOf(r *run) int {
	i, mask := h.home(r.first), len(h.slots)-1
	for h.slots[i].Load() != r {
		i = (i + 1) & mask
	}
	return i
}

// replace puts now in the place of old. Both begin with the same block.
func (h *heads) replace(old, now *run) { h.slots[h.slotOf(old)].Store(now) }

// remove removes r, which must be there.
func (h *heads) remove(r *run) {
	hole, mask := h.slotOf(r), len(h.slots)-1
	for i := (hole + 1) & mask; ; i = (i + 1) & mask {
		next := h.slots[i].Load()
		if next == nil {
			break
		}
		if (i-h.home(next.first))&mask >= (i-hole)&mask { // its home is not after the hole: it may fill it
			h.slots[hole].Store(next)
			hole = i
		}
	}
	h.slots[hole].Store(nil)
	h.used--
}

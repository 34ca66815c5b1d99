package kvpool

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
	"sync"
)

// prefixMap finds the block that holds a content. It never grows: the pool's size bounds what it holds.
//
// Open addressing with linear probing at a load of at most 1/2. Home slots come from two multiplications under a secret
// of the process's own (wyhash's folded product), so that a client that chooses contents cannot choose where they lie.
// One is not enough: under three secrets of a hundred it lays contents that follow each other in heaps.
// Deletion moves the rest of the cluster back (Knuth 6.4, algorithm R), so there are no tombstones and nothing decays
// over the life of a process.
type prefixMap struct {
	slots []prefixSlot // length a power of two
	shift uint         // 64 - log2(len(slots))
	used  int          // slots in use
	keys  [2]uint64
}

type prefixSlot struct {
	hash  BlockHash
	block BlockID // block's number + 1, so that the zero slot is empty
}

func newPrefixMap(blocks int) prefixMap {
	width := max(1, bits.Len(uint(2*blocks-1)))
	return prefixMap{slots: make([]prefixSlot, 1<<width), shift: uint(64 - width), keys: secrets()}
}

// secrets are the keys of this process's maps, drawn at random: where a content lies decides nothing but how fast it is
// found.
var secrets = sync.OnceValue(func() [2]uint64 {
	var drawn [16]byte
	_, _ = rand.Read(drawn[:]) // never fails
	return [2]uint64{binary.NativeEndian.Uint64(drawn[:]), binary.NativeEndian.Uint64(drawn[8:]) | 1}
})

func (m *prefixMap) home(h BlockHash) int {
	high, low := bits.Mul64(uint64(h)^m.keys[0], m.keys[1])
	high, low = bits.Mul64(high^low, m.keys[1])
	return int((high ^ low) >> (m.shift & 63))
}

// find returns the block that holds h.
func (m *prefixMap) find(h BlockHash) (BlockID, bool) {
	slots, mask := m.slots, len(m.slots)-1
	for i := m.home(h); ; i = (i + 1) & mask {
		switch s := &slots[i]; {
		case s.block == 0:
			return 0, false
		case s.hash == h:
			return s.block - 1, true
		}
	}
}

// add records that block holds h. It returns false, and changes nothing, where some block already does.
func (m *prefixMap) add(h BlockHash, block BlockID) bool {
	slots, mask := m.slots, len(m.slots)-1
	for i := m.home(h); ; i = (i + 1) & mask {
		switch s := &slots[i]; {
		case s.block == 0:
			*s = prefixSlot{hash: h, block: block + 1}
			m.used++
			return true
		case s.hash == h:
			return false
		}
	}
}

// remove removes h, which must be in the map.
func (m *prefixMap) remove(h BlockHash) {
	slots, mask := m.slots, len(m.slots)-1
	hole := m.home(h)
	for slots[hole].hash != h || slots[hole].block == 0 {
		hole = (hole + 1) & mask
	}
	m.used--
	for i := (hole + 1) & mask; ; i = (i + 1) & mask {
		s := slots[i]
		if s.block == 0 {
			break
		}
		if (i-m.home(s.hash))&mask >= (i-hole)&mask { // its home is not after the hole: it may fill it
			slots[hole] = s
			hole = i
		}
	}
	slots[hole] = prefixSlot{}
}

package bpe

import (
	"encoding/binary"
	"math/bits"
)

// wordTable finds the ids of words. Words of up to shortBytes bytes lie in open addressing over a power of two, at most
// half full, keyed by themselves: one cache line answers for nearly all that texts are made of.
type wordTable struct {
	slots []wordSlot
	shift uint
	long  map[string]uint32
}

// wordSlot is a word's: its bytes, then zeros, and its length in the highest byte of high. Both 0 is a free slot.
type wordSlot struct {
	low, high uint64
	id        uint32
}

// shortBytes is the most bytes of a word that is its own key.
const shortBytes = 15

// newWordTable has room for n words.
func newWordTable(n int) *wordTable {
	width := max(bits.Len(uint(2*n)), 4)
	return &wordTable{make([]wordSlot, 1<<width), uint(64 - width), map[string]uint32{}}
}

// add notes a word, which is not empty and was not noted before.
func (t *wordTable) add(word string, id uint32) {
	if len(word) > shortBytes {
		t.long[word] = id
		return
	}
	low, high := wordKey([]byte(word))
	at := t.home(low, high)
	for t.slots[at].high != 0 {
		at = (at + 1) & (len(t.slots) - 1)
	}
	t.slots[at] = wordSlot{low, high, id}
}

// id returns a word's; false where it has none.
func (t *wordTable) id(word []byte) (uint32, bool) {
	if len(word) > shortBytes {
		id, ok := t.long[string(word)]
		return id, ok
	}
	low, high := wordKey(word)
	for at := t.home(low, high); ; at = (at + 1) & (len(t.slots) - 1) {
		switch s := &t.slots[at]; {
		case s.low == low && s.high == high:
			return s.id, true
		case s.high == 0:
			return 0, false
		}
	}
}

func (t *wordTable) home(low, high uint64) int {
	over, under := bits.Mul64(low^0x9E3779B97F4A7C15, high^0xD1B54A32D192ED03)
	return int((over ^ under) * 0x9E3779B97F4A7C15 >> t.shift)
}

// wordKey returns the key of a word of 1 to shortBytes bytes.
func wordKey(w []byte) (low, high uint64) {
	n := len(w)
	high = uint64(n) << 56
	switch {
	case n >= 8:
		return binary.LittleEndian.Uint64(w), high | binary.LittleEndian.Uint64(w[n-8:])>>(8*(16-n))
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(w)) | uint64(binary.LittleEndian.Uint32(w[n-4:]))<<(8*(n-4)), high
	}
	return uint64(w[0]) | uint64(w[n/2])<<(8*(n/2)) | uint64(w[n-1])<<(8*(n-1)), high
}

package wire

import (
	"encoding/binary"
	"math/bits"
)

// seen tells what was passed on the way through a string.
type seen uint8

const (
	sawEscape seen = 1 << iota
	sawHigh        // a byte over 0x7F
)

// Bytes of a word, for the tests of passWords.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// block is what the assembly routines read and write at once, in bytes.
const block = 64

// pass reads the inside of a string from b[i] on: over plain bytes and escapes of one letter, to the first byte that is neither.
// That is a quote, a control character, the backslash of any other escape, or the end of b. It may pass \uXXXX too, but
// for lone surrogates.
func pass(b []byte, i int) (at int, saw seen) {
	if len(b)-i < block/2 {
		return passWords(b, i)
	}
	return passBlocks(b, i)
}

// passWords is pass for short strings, and for machines of which nothing is known.
func passWords(b []byte, i int) (at int, saw seen) {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		m := special(w) & highs
		if m == 0 {
			if w&highs != 0 {
				saw |= sawHigh
			}
			continue
		}
		n := bits.TrailingZeros64(m) // of the bits before and in the special byte, the last is its highest
		if w&highs&(1<<n-1) != 0 {
			saw |= sawHigh
		}
		if i += n >> 3; !passable(b, i) {
			return i, saw
		}
		saw |= sawEscape
		i += 2 - 8
	}
	return passBytes(b, i, saw)
}

// passBytes is passWords for the last few bytes.
func passBytes(b []byte, i int, saw seen) (int, seen) {
	for ; i < len(b); i++ {
		switch ch := b[i]; {
		case ch >= 0x80:
			saw |= sawHigh
		case ch == '\\' && passable(b, i):
			saw |= sawEscape
			i++
		case ch == '"' || ch == '\\' || ch < ' ':
			return i, saw
		}
	}
	return i, saw
}

// passable reports whether an escape of one letter begins at i.
func passable(b []byte, i int) bool { return b[i] == '\\' && i+1 < len(b) && escapes[b[i+1]] != 0 }

// unplain sets the high bit of the first byte of w that is special or over 0x7F, and of none before it.
func unplain(w uint64) uint64 {
	quote := w ^ ('"' * ones)
	slash := w ^ ('\\' * ones)
	return (w | (w - ' '*ones) | (quote - ones) | (slash - ones)) & highs
}

// special sets the high bit of every byte of w that ends a plain run. It is exact up to the first such byte, and tells
// exactly whether there is one: a borrow can only reach bytes above a hit (Mycroft's zero-byte test).
func special(w uint64) uint64 {
	quote := w ^ ('"' * ones)
	slash := w ^ ('\\' * ones)
	return (w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash
}

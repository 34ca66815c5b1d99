package wire

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// seen tells what was passed on the way through a string.
type seen uint8

const (
	sawEscape seen = 1 << iota
	sawHigh        // a byte over 0x7F
	sawLoose       // an escape for what may be written otherwise: \/ or \uXXXX; sawEscape comes with it
)

// Bytes of a word, for the tests of passWords.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// block is what the assembly routines read and write at once, in bytes.
const block = 64

// longestEscape is a surrogate pair, in bytes.
const longestEscape = 12

// passWords is pass for short strings, and for machines of which nothing is known.
func passWords(b []byte, i int) (at int, saw seen) {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if unplain(w) == 0 {
			continue
		}
		m := special(w) & highs
		if m == 0 {
			saw |= sawHigh
			continue
		}
		n := bits.TrailingZeros64(m) // of the bits before and in the special byte, the last is its highest
		if w&highs&(1<<n-1) != 0 {
			saw |= sawHigh
		}
		i += n >> 3
		if n = escapeLen(b, i); n == 0 {
			return i, saw
		}
		saw |= sawOf(b[i+1])
		i += n - 8
	}
	return passBytes(b, i, saw)
}

// passBytes is passWords for the last few bytes.
func passBytes(b []byte, i int, saw seen) (int, seen) {
	for ; i < len(b); i++ {
		switch ch := b[i]; {
		case ch >= 0x80:
			saw |= sawHigh
		case ch == '"' || ch < ' ':
			return i, saw
		case ch == '\\':
			n := escapeLen(b, i)
			if n == 0 {
				return i, saw
			}
			saw |= sawOf(b[i+1])
			i += n - 1
		}
	}
	return i, saw
}

// sawOf is what a good escape of this letter shows.
func sawOf(letter byte) seen {
	if letter == '/' || letter == 'u' {
		return sawEscape | sawLoose
	}
	return sawEscape
}

// escapeLen is the length of the escape at i, a surrogate pair being one; 0 for a bad one, a lone surrogate and any
// other byte.
func escapeLen(b []byte, i int) int {
	switch {
	case b[i] != '\\' || i+1 >= len(b):
		return 0
	case escapes[b[i+1]] != 0:
		return 2
	}
	r, n := decodeEscape(b[i:])
	if r == utf8.RuneError && !isReplacement(b[i:]) {
		return 0
	}
	return n
}

// unplain sets the high bit of the first byte of w that is special or over 0x7F, and of none before it.
func unplain(w uint64) uint64 {
	quote := w ^ ('"' * ones)
	slash := w ^ ('\\' * ones)
	return (w | (w - ' '*ones) | (quote - ones) | (slash - ones)) & highs
}

// below has the bytes of a word that come before the lowest bit of m, which is the highest of a byte; all for no bit.
func below(m uint64) uint64 { return m&-m>>7 - 1 }

// special sets the high bit of every byte of w that ends a plain run. It is exact up to the first such byte, and tells
// exactly whether there is one: a borrow can only reach bytes above a hit (Mycroft's zero-byte test).
func special(w uint64) uint64 {
	quote := w ^ ('"' * ones)
	slash := w ^ ('\\' * ones)
	return (w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash
}

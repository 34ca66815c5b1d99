package wire

import "unicode/utf8"

// validUTF8 is utf8.Valid.
func validUTF8(b []byte) bool {
	if len(b) < minVector {
		return utf8.Valid(b)
	}
	whole := 0 // runes that are judged by themselves, so that three bytes of the string come before the rest
	for whole < 3 {
		r, n := utf8.DecodeRune(b[whole:])
		if r == utf8.RuneError && n == 1 {
			return false
		}
		whole += n
	}
	if !validBlocks(b, whole) {
		return false
	}
	last := len(b) - 1 // what begins in the last bytes may be cut off
	for range utf8.UTFMax - 1 {
		if !utf8.RuneStart(b[last]) {
			last--
		}
	}
	return utf8.Valid(b[last:])
}

// minVector is the least that leaves a block behind the runes at the front.
const minVector = block + 3 + utf8.UTFMax

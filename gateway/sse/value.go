package sse

import (
	"encoding/binary"
	"math/bits"

	"octet/gateway/wire"
)

// closing returns where the quote is that ends the string whose inside begins at i, behind the other; 0 where none does.
func closing(b []byte, i int) int {
	at := i
	for most := i + longest; len(b)-at >= 16 && at < most; at += 16 {
		p := (*[16]byte)(b[at:])
		m := special(binary.LittleEndian.Uint64(p[:8]))
		if m == 0 {
			if m = special(binary.LittleEndian.Uint64(p[8:])); m == 0 {
				continue
			}
			at += 8
		}
		if at += bits.TrailingZeros64(m) >> 3; at < len(b) && b[at] == '"' {
			return at
		}
		break
	}
	return hardClosing(b, i)
}

// longest is how far closing looks by itself, in bytes.
const longest = 64

// special sets the high bit of the first byte of w that is a quote, a backslash or a control character; of none where there is
// none. Bytes above that one may be marked without being either.
func special(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	low := w ^ 2*ones // below '!' are the quote, which has changed places with the space, and what was below that
	slash := w ^ '\\'*ones
	return ((low-'!'*ones)&^low | (slash-ones)&^slash) & highs
}

// hardClosing is closing for any string that does not end with b.
func hardClosing(b []byte, i int) int {
	c := wire.NewCursor(b[i-1:], 0)
	c.Quoted()
	if end := i - 1 + c.Offset(); end < len(b) { // where a fault ends
		return end - 1
	}
	return 0
}

// mostDigits is how many digits any int has room for.
const mostDigits = 18

// numberAt reads the number at i, which does not end with b; end is 0 where there is none. whole says that it is written as an
// integer and fits; n is 0 if not.
func numberAt(b []byte, i int) (n int, whole bool, end int) {
	end = i
	for end < len(b) && b[end]-'0' <= 9 {
		n = n*10 + int(b[end]-'0')
		end++
	}
	digits := end - i
	if digits == 0 || digits > mostDigits || digits > 1 && b[i] == '0' || end == len(b) || b[end] == '.' || b[end]|0x20 == 'e' {
		return hardNumber(b, i)
	}
	return n, true, end
}

func hardNumber(b []byte, i int) (n int, whole bool, end int) {
	if i >= len(b) || b[i] != '-' && b[i]-'0' > 9 {
		return 0, false, 0
	}
	c := wire.NewCursor(b[i:], 0)
	n, whole = c.Int()
	if end = i + c.Offset(); end == len(b) { // where a fault ends
		return 0, false, 0
	}
	return n, whole, end
}

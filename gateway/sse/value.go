package sse

import (
	"encoding/binary"
	"math/bits"

	"octet/gateway/wire"
)

// text returns the length of the string that b begins with, its quotes included, and that is not all of b; else 0.
func text(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; len(b)-i >= 16 && i < longest; i += 16 {
		p := (*[16]byte)(b[i:])
		m := special(binary.LittleEndian.Uint64(p[:8]))
		if m == 0 {
			if m = special(binary.LittleEndian.Uint64(p[8:])); m == 0 {
				continue
			}
			i += 8
		}
		if i += bits.TrailingZeros64(m) >> 3; i < len(b) && b[i] == '"' {
			return i + 1
		}
		break
	}
	return hardText(b)
}

// longest is how far text looks by itself, in bytes.
const longest = 64

// special sets the high bit of the first byte of w that is a quote, a backslash or a control character. It
// returns 0 without one. Bytes above that one may be marked without being either.
func special(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	low := w ^ 2*ones // below '!' are the quote, which has changed places with the space, and what was below that
	slash := w ^ '\\'*ones
	return ((low-'!'*ones)&^low | (slash-ones)&^slash) & highs
}

// hardText is text for any string.
func hardText(b []byte) int {
	c := wire.NewCursor(b, 0)
	c.Quoted()
	return within(&c, b)
}

// within returns how much of b was read, 0 where that is all: there a fault ends.
func within(c *wire.Cursor, b []byte) int {
	if n := c.Offset(); n < len(b) {
		return n
	}
	return 0
}

// mostDigits is how many digits any int has room for.
const mostDigits = 18

// number reads the number that b begins with, and that is not all of b; size is 0 without one. whole says that
// it is written as an integer and fits; n is 0 if not.
func number(b []byte) (n int, whole bool, size int) {
	for i, ch := range b {
		if ch-'0' <= 9 {
			n = n*10 + int(ch-'0')
			continue
		}
		if i == 0 || i > 1 && b[0] == '0' || i > mostDigits || ch == '.' || ch|0x20 == 'e' {
			break
		}
		return n, true, i
	}
	return hardNumber(b)
}

// hardNumber is number for any number.
func hardNumber(b []byte) (n int, whole bool, size int) {
	if len(b) == 0 || b[0] != '-' && b[0]-'0' > 9 {
		return 0, false, 0
	}
	c := wire.NewCursor(b, 0)
	n, whole = c.Int()
	return n, whole, within(&c, b)
}

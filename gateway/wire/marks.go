package wire

import "encoding/binary"

// Strings of more than shortRun bytes are read in blocks, of which marks takes up to batch at once.
const (
	block    = 64 // bytes, one a bit of a word
	batch    = 8  // blocks
	shortRun = 64 // bytes
)

// marksByWords sets bit i of out[k], for each of blocks blocks, 1 to batch of them, where byte i of block k of b ends a plain
// run: a quote, a backslash or a control character. high has a high bit set when any byte is over 0x7F. It is marks for machines
// of which nothing is known.
func marksByWords(b []byte, blocks int, out *[batch]uint64) (high uint64) {
	for k := range blocks {
		p := b[k*block : (k+1)*block : (k+1)*block]
		var bits uint64
		for i := 0; i < block; i += 8 {
			w := binary.LittleEndian.Uint64(p[i:])
			high |= w & highs
			bits |= gather(exactly(w)) << i
		}
		out[k] = bits
	}
	return high & highs
}

// exactly sets the high bit of every byte of w that ends a plain run, and no other bit.
func exactly(w uint64) uint64 {
	const lows = ^uint64(highs)
	quote, slash, low := w^('"'*ones), w^('\\'*ones), w&lows
	plain := ((quote & lows) + lows | quote) & ((slash & lows) + lows | slash) & (low + (0x80-' ')*ones | w)
	return ^plain & highs
}

// gather moves the high bit of byte i to bit i.
func gather(w uint64) uint64 { return w >> 7 * 0x0102040810204080 >> 56 }

// from keeps the bits of m that are at or above n.
func from(m uint64, n int) uint64 {
	if n >= block {
		return 0
	}
	return m >> uint(n) << uint(n)
}

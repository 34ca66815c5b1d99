package wire

import "golang.org/x/sys/cpu"

// marksAVX2 is marks for memory at p; its high is a bit a byte, not in the same place.
//
//go:noescape
func marksAVX2(p *byte, blocks int, out *[batch]uint64) (high uint64)

// unquoteAVX2 writes to dst what so many blocks from src on stand for, one at least: up to an escape that plain does not know.
// It reads a block beyond these, and writes a block more than it says.
//
//go:noescape
func unquoteAVX2(dst, src *byte, blocks int, plain *[256]byte) (read, wrote int)

var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// unquoteBlocks is unquoteByWords, and faster.
func unquoteBlocks(dst, raw []byte, blocks int) (read, wrote int) {
	if !hasAVX2 {
		return unquoteByWords(dst, raw, blocks)
	}
	_, _ = raw[(blocks+1)*block-1], dst[(blocks+1)*block-1]
	return unquoteAVX2(&dst[0], &raw[0], blocks, &escapes)
}

func marks(b []byte, blocks int, out *[batch]uint64) (high uint64) {
	if !hasAVX2 {
		return marksByWords(b, blocks, out)
	}
	_ = b[blocks*block-1]
	if marksAVX2(&b[0], blocks, out) != 0 {
		high = highs
	}
	return high
}

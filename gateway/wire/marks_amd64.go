package wire

import "golang.org/x/sys/cpu"

// marksAVX2 is marks for memory at p; its high is a bit a byte, not in the same place.
//
//go:noescape
func marksAVX2(p *byte, blocks int, out *[batch]uint64) (high uint64)

var hasAVX2 = cpu.X86.HasAVX2

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

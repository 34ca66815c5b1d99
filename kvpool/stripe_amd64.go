package kvpool

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// chainAVX2 is chainByWords for n blocks, one at least, at text.
//
//go:noescape
func chainAVX2(dst *BlockHash, text *byte, n int, k *keys, parent BlockHash)

var hasAVX2 = cpu.X86.HasAVX2

// chain is chainByWords, in little more than half of the instructions where the processor can.
func (k *keys) chain(dst []BlockHash, parent BlockHash, all [][stripe]byte) {
	if !hasAVX2 || len(dst) == 0 {
		k.chainByWords(dst, parent, all)
		return
	}
	all = all[:len(dst)]
	chainAVX2(unsafe.SliceData(dst), &all[0][0], len(dst), k, parent)
}

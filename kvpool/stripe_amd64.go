package kvpool

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// hasAVX2 and hasAVX512 say which of the assembly routines this machine can run.
var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasBMI2
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ
)

// chainAVX2 is chainByWords for n blocks, one at least, at text. It reads nothing beyond them.
//
//go:noescape
func chainAVX2(dst *BlockHash, text *byte, n int, k *keys, parent BlockHash)

// group is how many blocks chainAVX512 works at side by side.
const group = 8

// chainAVX512 is chainAVX2 for n groups, one at least, and returns the last hash.
//
//go:noescape
func chainAVX512(dst *BlockHash, text *byte, n int, k *keys, parent BlockHash) (last BlockHash)

// chain is chainByWords, in less than half of the time where the processor can.
func (k *keys) chain(dst []BlockHash, parent BlockHash, all [][stripe]byte) {
	if !hasAVX2 {
		k.chainByWords(dst, parent, all)
		return
	}
	all = all[:len(dst)]
	if n := len(dst) / group; n > 0 && hasAVX512 {
		parent = chainAVX512(unsafe.SliceData(dst), &all[0][0], n, k, parent)
		dst, all = dst[n*group:], all[n*group:]
	}
	if len(dst) > 0 {
		chainAVX2(unsafe.SliceData(dst), &all[0][0], len(dst), k, parent)
	}
}

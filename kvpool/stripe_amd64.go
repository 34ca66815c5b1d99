package kvpool

import "golang.org/x/sys/cpu"

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

// chainAVX512 is chainAVX2 for a group at least.
//
//go:noescape
func chainAVX512(dst *BlockHash, text *byte, n int, k *keys, parent BlockHash)

// chain is chainByWords, in less than half of the time where the processor can.
func (k *keys) chain(dst []BlockHash, parent BlockHash, all [][stripe]byte) {
	all = all[:len(dst)]
	switch n := len(dst); {
	case n >= group && hasAVX512:
		chainAVX512(&dst[0], &all[0][0], n, k, parent)
	case n > 0 && hasAVX2:
		chainAVX2(&dst[0], &all[0][0], n, k, parent)
	default:
		k.chainByWords(dst, parent, all)
	}
}

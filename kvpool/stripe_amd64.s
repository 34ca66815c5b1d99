#include "textflag.h"

// func chainAVX2(dst *BlockHash, text *byte, n int, k *keys, parent BlockHash)
//
// SI and DI are the ends of text and dst, CX what is left of dst, below zero: a block is eight times a hash. The words are XORed with
// their keys side by side, in Y0 and Y1, and multiplied from the stack. R8 is the content, R9 the parent.
TEXT ·chainAVX2(SB), NOSPLIT, $64-40
	MOVQ dst+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ k+24(FP), BX
	MOVQ parent+32(FP), R9
	VMOVDQU (BX), Y8
	VMOVDQU 32(BX), Y9
	MOVQ 64(BX), R10
	MOVQ 72(BX), R11
	SHLQ $3, CX
	ADDQ CX, DI
	LEAQ (SI)(CX*8), SI
	NEGQ CX

next:
	VPXOR (SI)(CX*8), Y8, Y0
	VPXOR 32(SI)(CX*8), Y9, Y1
	VMOVDQU Y0, words-64(SP)
	VMOVDQU Y1, words-32(SP)
	MOVQ words-64(SP), AX
	MULQ words-56(SP)
	XORQ DX, AX
	LEAQ (AX)(R11*1), R8
	MOVQ words-48(SP), AX
	MULQ words-40(SP)
	XORQ DX, AX
	ADDQ AX, R8
	MOVQ words-32(SP), AX
	MULQ words-24(SP)
	XORQ DX, AX
	ADDQ AX, R8
	MOVQ words-16(SP), AX
	MULQ words-8(SP)
	XORQ DX, AX
	ADDQ AX, R8
	MOVQ R10, AX
	XORQ R9, AX
	MULQ R8
	MOVQ DX, R9
	XORQ AX, R9
	MOVQ R9, (DI)(CX*1)
	ADDQ $8, CX
	JNE next
	VZEROUPPER
	RET

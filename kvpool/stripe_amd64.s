#include "textflag.h"

// STEP takes R9 from one hash to the next, by a block's content.
#define STEP(content) \
	XORQ content, R9    \
	RORXQ $37, R9, R9   \
	LEAQ (R9)(R9*4), R9

// func chainAVX2(dst *BlockHash, text *byte, n int, k *keys, parent BlockHash)
//
// SI and DI are the ends of text and dst, CX what is left of dst, below zero: a block is eight times a hash. The keys are added to
// the words side by side, in Y0 and Y1, and these are multiplied from the stack. R8 is the content.
TEXT ·chainAVX2(SB), NOSPLIT, $64-40
	MOVQ dst+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ k+24(FP), BX
	MOVQ parent+32(FP), R9
	VMOVDQU (BX), Y8
	VMOVDQU 32(BX), Y9
	SHLQ $3, CX
	ADDQ CX, DI
	LEAQ (SI)(CX*8), SI
	NEGQ CX

next:
	VPADDQ (SI)(CX*8), Y8, Y0
	VPADDQ 32(SI)(CX*8), Y9, Y1
	VMOVDQU Y0, words-64(SP)
	VMOVDQU Y1, words-32(SP)
	MOVQ words-64(SP), AX
	MULQ words-56(SP)
	MOVQ AX, R8
	XORQ DX, R8
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
	MOVQ R8, AX
	SHLQ $24, AX
	XORQ AX, R8
	STEP(R8)
	MOVQ R9, (DI)(CX*1)
	ADDQ $8, CX
	JNE next
	VZEROUPPER
	RET

// PRODUCTS sets to to the folded products of the two blocks at off: those of the first in the even lanes, of the second in the odd
// ones. Z0 is the words of one factor, Z1 of the other, Z2 and Z3 their upper halves, Z4 to Z7 what these make: low·low, low·high, high·low and
// high·high. Adding up the middle may carry.
#define PRODUCTS(off, to) \
	VPADDQ off(SI), Z16, Z2      \
	VPADDQ (off+64)(SI), Z16, Z3 \
	VPUNPCKLQDQ Z3, Z2, Z0       \
	VPUNPCKHQDQ Z3, Z2, Z1       \
	VPSRLQ $32, Z0, Z2           \
	VPSRLQ $32, Z1, Z3           \
	VPMULUDQ Z0, Z1, Z4          \
	VPMULUDQ Z0, Z3, Z5          \
	VPMULUDQ Z2, Z1, Z6          \
	VPMULUDQ Z2, Z3, Z7          \
	VPMULLQ Z0, Z1, to           \
	VPSRLQ $32, Z4, Z4           \
	VPADDQ Z4, Z5, Z5            \
	VPADDQ Z5, Z6, Z6            \
	VPCMPUQ $1, Z5, Z6, K1       \
	VPSRLQ $32, Z6, Z6           \
	VPADDQ Z6, Z7, Z7            \
	VPADDQ Z17, Z7, K1, Z7       \
	VPXORQ Z7, to, to

// HALVE adds up neighbours of 128 bits: what those of a make is in the lower half of to, of b in the upper one.
#define HALVE(a, b, to) \
	VSHUFI64X2 $0x88, b, a, Z4 \
	VSHUFI64X2 $0xDD, b, a, Z5 \
	VPADDQ Z4, Z5, to

// func chainAVX512(dst *BlockHash, text *byte, n int, k *keys, parent BlockHash) (last BlockHash)
//
// The contents of a group, at BX, are found out while the chain goes through the group before: what waits for each other stands between what does
// not, so that a processor sees enough of both.
TEXT ·chainAVX512(SB), NOSPLIT, $128-48
	MOVQ dst+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ k+24(FP), BX
	MOVQ parent+32(FP), R9
	VMOVDQU64 (BX), Z16
	MOVQ $0x100000000, AX
	VPBROADCASTQ AX, Z17
	LEAQ contents-65(SP), BX // a line of the cache, within the 128 bytes
	ANDQ $~63, BX
	PRODUCTS(0, Z8)
	PRODUCTS(128, Z9)
	HALVE(Z8, Z9, Z8)
	PRODUCTS(256, Z9)
	PRODUCTS(384, Z10)
	HALVE(Z9, Z10, Z9)
	HALVE(Z8, Z9, Z8)
	VPSLLQ $24, Z8, Z9
	VPXORQ Z8, Z9, Z8
	VMOVDQU64 Z8, (BX)
	ADDQ $512, SI
	DECQ CX
	JEQ last

next:
	STEP((BX))
	MOVQ R9, (DI)
	PRODUCTS(0, Z8)
	STEP(8(BX))
	MOVQ R9, 8(DI)
	STEP(16(BX))
	MOVQ R9, 16(DI)
	PRODUCTS(128, Z9)
	HALVE(Z8, Z9, Z8)
	STEP(24(BX))
	MOVQ R9, 24(DI)
	STEP(32(BX))
	MOVQ R9, 32(DI)
	PRODUCTS(256, Z9)
	STEP(40(BX))
	MOVQ R9, 40(DI)
	STEP(48(BX))
	MOVQ R9, 48(DI)
	PRODUCTS(384, Z10)
	HALVE(Z9, Z10, Z9)
	STEP(56(BX))
	MOVQ R9, 56(DI)
	HALVE(Z8, Z9, Z8)
	VPSLLQ $24, Z8, Z9
	VPXORQ Z8, Z9, Z8
	VMOVDQU64 Z8, (BX)
	ADDQ $512, SI
	ADDQ $64, DI
	DECQ CX
	JNE next

last:
	STEP((BX))
	MOVQ R9, (DI)
	STEP(8(BX))
	MOVQ R9, 8(DI)
	STEP(16(BX))
	MOVQ R9, 16(DI)
	STEP(24(BX))
	MOVQ R9, 24(DI)
	STEP(32(BX))
	MOVQ R9, 32(DI)
	STEP(40(BX))
	MOVQ R9, 40(DI)
	STEP(48(BX))
	MOVQ R9, 48(DI)
	STEP(56(BX))
	MOVQ R9, 56(DI)
	MOVQ R9, last+40(FP)
	VZEROUPPER
	RET

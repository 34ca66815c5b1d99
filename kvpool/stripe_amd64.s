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

// FOUR is a row of what does not wait for each other: row for each of the four pairs of blocks of a group, in registers of their own.
#define FOUR(row) \
	row(0, Z0, Z1, Z2, Z3, Z4, Z5, K1)        \
	row(128, Z6, Z7, Z8, Z9, Z10, Z11, K2)    \
	row(256, Z12, Z13, Z14, Z15, Z16, Z17, K3) \
	row(384, Z18, Z19, Z20, Z21, Z22, Z23, K4)

// ASK has the caches fetch the pair two groups on, which need not be there.
#define ASK(off, a, b, c, d, e, f, k) PREFETCHT0 (off+1024)(SI); PREFETCHT0 (off+1088)(SI);

// The rows that set a to the folded products of the pair at off, of its first block in the even lanes, of the second in the odd ones: keys are
// added to the words, a is one factor, b the other, c and d are their upper halves, and then e, d, c, f what the halves make, low·low,
// low·high, high·low and high·high. Adding up the middle may carry, by k.
#define LOAD(off, a, b, c, d, e, f, k) VPADDQ off(SI), Z30, c; VPADDQ (off+64)(SI), Z30, d;
#define PAIR(off, a, b, c, d, e, f, k) VPUNPCKLQDQ d, c, a; VPUNPCKHQDQ d, c, b;
#define UPPER(off, a, b, c, d, e, f, k) VPSRLQ $32, a, c; VPSRLQ $32, b, d;
#define OUTER(off, a, b, c, d, e, f, k) VPMULUDQ a, b, e; VPMULUDQ c, d, f;
#define INNER(off, a, b, c, d, e, f, k) VPMULUDQ a, d, d; VPMULUDQ b, c, c;
#define LOW(off, a, b, c, d, e, f, k) VPMULLQ a, b, a; VPSRLQ $32, e, e;
#define MIDDLE(off, a, b, c, d, e, f, k) VPADDQ e, d, d;
#define MIDDLES(off, a, b, c, d, e, f, k) VPADDQ d, c, c;
#define CARRY(off, a, b, c, d, e, f, k) VPCMPUQ $1, d, c, k; VPSRLQ $32, c, c;
#define HIGH(off, a, b, c, d, e, f, k) VPADDQ c, f, f;
#define CARRIED(off, a, b, c, d, e, f, k) VPADDQ Z31, f, k, f;
#define FOLD(off, a, b, c, d, e, f, k) VPXORQ f, a, a;

// HALVE adds up neighbours of 128 bits: what those of a make is in the lower half of a, of b in the upper one.
#define HALVE(a, b, t, u) \
	VSHUFI64X2 $0x88, b, a, t \
	VSHUFI64X2 $0xDD, b, a, u \
	VPADDQ t, u, a

// GROUP sets (BX) to the contents of the group at SI and goes to the next group, at most to DX. Between the rows are eight steps of a
// chain, or NONE.
#define GROUP(step) \
	step(0)                   \
	FOUR(LOAD)                \
	step(1)                   \
	FOUR(PAIR)                \
	FOUR(UPPER)               \
	step(2)                   \
	FOUR(OUTER)               \
	step(3)                   \
	FOUR(INNER)               \
	step(4)                   \
	FOUR(LOW)                 \
	FOUR(MIDDLE)              \
	step(5)                   \
	FOUR(MIDDLES)             \
	FOUR(CARRY)               \
	step(6)                   \
	FOUR(HIGH)                \
	FOUR(CARRIED)             \
	FOUR(FOLD)                \
	step(7)                   \
	HALVE(Z0, Z6, Z1, Z2)     \
	HALVE(Z12, Z18, Z13, Z14) \
	HALVE(Z0, Z12, Z1, Z2)    \
	VPSLLQ $24, Z0, Z1        \
	VPXORQ Z0, Z1, Z0         \
	VMOVDQU64 Z0, (BX)        \
	ADDQ $512, SI             \
	CMPQ SI, DX               \
	CMOVQHI DX, SI

#define NONE(i)

// HASH is a step, by content i of a group.
#define HASH(i) STEP((8*i)(BX)); MOVQ R9, (8*i)(DI);

// func chainAVX512(dst *BlockHash, text *byte, n int, k *keys, parent BlockHash)
//
// The contents of a group are found out while the chain goes through the group two before: a step takes 3 cycles if its content is there, and a
// processor holds no more steps that wait than those of three groups. BX changes between the contents of two groups, each a line of the cache.
// CX is how many blocks there are behind those whose contents were found out. The last group is the last eight blocks: where CX ends below
// zero, as many of them belong to the group before too.
TEXT ·chainAVX512(SB), NOSPLIT, $256-40
	MOVQ dst+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ k+24(FP), BX
	MOVQ parent+32(FP), R9
	VMOVDQU64 (BX), Z30
	MOVQ $0x100000000, AX
	VPBROADCASTQ AX, Z31
	LEAQ contents-129(SP), BX // 128 bytes at a multiple of 128, within the 256
	ANDQ $~127, BX
	MOVQ CX, DX
	SHLQ $6, DX
	LEAQ -512(SI)(DX*1), DX

fill: // twice, where there are two groups
	GROUP(NONE)
	XORQ $64, BX
	SUBQ $8, CX
	JLE filled
	TESTQ $64, BX
	JNE fill
	JMP next

filled:
	TESTQ $64, BX
	JEQ tail
	XORQ $64, BX
	JMP last

next:
	FOUR(ASK)
	GROUP(HASH)
	XORQ $64, BX
	ADDQ $64, DI
	SUBQ $8, CX
	JGT next

tail:
	HASH(0)
	HASH(1)
	HASH(2)
	HASH(3)
	HASH(4)
	HASH(5)
	HASH(6)
	HASH(7)
	XORQ $64, BX
	ADDQ $64, DI

last:
	LEAQ 64(DI)(CX*8), DI // the end of dst: of the last group, -CX blocks are not new
	ADDQ $64, BX
	NEGQ CX
	SUBQ $8, CX

rest:
	STEP((BX)(CX*8))
	MOVQ R9, (DI)(CX*8)
	INCQ CX
	JNE rest
	VZEROUPPER
	RET

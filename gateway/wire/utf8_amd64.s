#include "textflag.h"

// Two bytes in a row tell every fault but one: each half byte of theirs has a set of faults that it allows, and what all have in
// common is there. (J. Keiser, D. Lemire: Validating UTF-8 In Less Than One Instruction Per Byte.) The one is that a third or
// fourth byte must be, or must not be, a continuation; two continuations in a row allow it by the highest bit.
//
//	01 a lead and no continuation      02 a continuation after ASCII    04 E0 and too little    08 F4 and too much, or above F4
//	10 ED and a surrogate              20 C0 or C1                      40 F0 and too little, or above F4    80 two continuations

// func validAVX512(p *byte, n int) bool
TEXT ·validAVX512(SB), NOSPLIT, $0-17
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), DX
	LEAQ -64(SI)(DX*1), DX // the last block
	VBROADCASTI32X4 highBefore<>(SB), Z10
	VBROADCASTI32X4 lowBefore<>(SB), Z11
	VBROADCASTI32X4 high<>(SB), Z12
	MOVL $0x0f0f0f0f, AX
	VPBROADCASTD AX, Z13
	MOVL $0x60606060, AX // E0, less 80
	VPBROADCASTD AX, Z14
	MOVL $0x70707070, AX // F0, less 80
	VPBROADCASTD AX, Z8
	MOVL $0x80808080, AX
	VPBROADCASTD AX, Z9
	VPXORQ Z7, Z7, Z7    // faults

load:
	VMOVDQU64 (SI), Z0
	VMOVDQU64 -3(SI), Z3
	VPORQ Z0, Z3, Z4
	VPTESTMB Z9, Z4, K1
	KORTESTQ K1, K1
	JZ next             // ASCII, and nothing before that goes on
	VMOVDQU64 -1(SI), Z1
	VMOVDQU64 -2(SI), Z2
	VPSRLW $4, Z1, Z4
	VPANDQ Z13, Z4, Z4
	VPSHUFB Z4, Z10, Z4
	VPANDQ Z13, Z1, Z5
	VPSHUFB Z5, Z11, Z5
	VPSRLW $4, Z0, Z6
	VPANDQ Z13, Z6, Z6
	VPSHUFB Z6, Z12, Z6
	VPTERNLOGQ $0x80, Z5, Z4, Z6 // what all three have
	VPSUBUSB Z14, Z2, Z2
	VPSUBUSB Z8, Z3, Z3
	VPORQ Z2, Z3, Z2
	VPTERNLOGQ $0x78, Z9, Z2, Z6 // but for the highest bit where a third or fourth byte is due
	VPORQ Z6, Z7, Z7

next:
	ADDQ $64, SI
	CMPQ SI, DX
	JLS load
	LEAQ -64(SI), AX
	CMPQ AX, DX
	JEQ out
	MOVQ DX, SI // some bytes again, and the rest
	JMP load

out:
	VPTESTMB Z7, Z7, K1
	KORTESTQ K1, K1
	SETEQ ret+16(FP)
	VZEROUPPER
	RET

// func validAVX2(p *byte, n int) bool
TEXT ·validAVX2(SB), NOSPLIT, $0-17
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), DX
	LEAQ -32(SI)(DX*1), DX // the last half block
	VBROADCASTI128 highBefore<>(SB), Y10
	VBROADCASTI128 lowBefore<>(SB), Y11
	VBROADCASTI128 high<>(SB), Y12
	MOVL $0x0f0f0f0f, AX
	VMOVD AX, X13
	VPBROADCASTD X13, Y13
	MOVL $0x60606060, AX
	VMOVD AX, X14
	VPBROADCASTD X14, Y14
	MOVL $0x70707070, AX
	VMOVD AX, X8
	VPBROADCASTD X8, Y8
	MOVL $0x80808080, AX
	VMOVD AX, X9
	VPBROADCASTD X9, Y9
	VPXOR Y7, Y7, Y7

load2:
	VMOVDQU (SI), Y0
	VMOVDQU -3(SI), Y3
	VPOR Y0, Y3, Y4
	VPTEST Y9, Y4
	JZ next2
	VMOVDQU -1(SI), Y1
	VMOVDQU -2(SI), Y2
	VPSRLW $4, Y1, Y4
	VPAND Y13, Y4, Y4
	VPSHUFB Y4, Y10, Y4
	VPAND Y13, Y1, Y5
	VPSHUFB Y5, Y11, Y5
	VPSRLW $4, Y0, Y6
	VPAND Y13, Y6, Y6
	VPSHUFB Y6, Y12, Y6
	VPAND Y4, Y5, Y5
	VPAND Y5, Y6, Y6
	VPSUBUSB Y14, Y2, Y2
	VPSUBUSB Y8, Y3, Y3
	VPOR Y2, Y3, Y2
	VPAND Y9, Y2, Y2
	VPXOR Y2, Y6, Y6
	VPOR Y6, Y7, Y7

next2:
	ADDQ $32, SI
	CMPQ SI, DX
	JLS load2
	LEAQ -32(SI), AX
	CMPQ AX, DX
	JEQ out2
	MOVQ DX, SI
	JMP load2

out2:
	VPTEST Y7, Y7
	SETEQ ret+16(FP)
	VZEROUPPER
	RET

DATA highBefore<>+0(SB)/8, $0x0202020202020202
DATA highBefore<>+8(SB)/8, $0x4915012180808080
GLOBL highBefore<>(SB), RODATA|NOPTR, $16
DATA lowBefore<>+0(SB)/8, $0xcbcbcb8b8383a3e7
DATA lowBefore<>+8(SB)/8, $0xcbcbdbcbcbcbcbcb
GLOBL lowBefore<>(SB), RODATA|NOPTR, $16
DATA high<>+0(SB)/8, $0x0101010101010101
DATA high<>+8(SB)/8, $0x01010101babaaee6
GLOBL high<>(SB), RODATA|NOPTR, $16

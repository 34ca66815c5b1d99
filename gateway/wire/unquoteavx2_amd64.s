#include "textflag.h"

// func unquoteAVX2(dst, src *byte, blocks int, plain *[256]byte) (read, wrote int)
//
// SI is the block, R8 where in it the next byte to copy is, DI where that goes, R9 the escapes to come.
TEXT ·unquoteAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	MOVQ plain+24(FP), DX
	XORQ R8, R8
	MOVQ DI, R12
	MOVQ SI, R13
	MOVL $0x5c5c5c5c, AX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0 // backslashes

block:
	VMOVDQU (SI), Y1
	VMOVDQU 32(SI), Y2
	VPCMPEQB Y0, Y1, Y3
	VPCMPEQB Y0, Y2, Y4
	VPMOVMSKB Y3, R9
	VPMOVMSKB Y4, AX
	SHLQ $32, AX
	ORQ AX, R9
	MOVQ R8, BX
	SHRXQ BX, R9, R9 // what is done is no escape
	SHLXQ BX, R9, R9

copy:
	VMOVDQU (SI)(R8*1), Y1 // what is too much is written over
	VMOVDQU 32(SI)(R8*1), Y2
	VMOVDQU Y1, (DI)
	VMOVDQU Y2, 32(DI)
	TESTQ R9, R9
	JZ done
	TZCNTQ R9, R10
	MOVQ R10, R11
	SUBQ R8, R11
	ADDQ R11, DI // before the escape
	MOVBLZX 1(SI)(R10*1), AX
	MOVBLZX (DX)(AX*1), AX
	TESTL AX, AX
	JZ stop
	MOVB AX, (DI)
	INCQ DI
	LEAQ 2(R10), R8
	CMPQ R8, $64
	JGE over
	SHRXQ R8, R9, R9
	SHLXQ R8, R9, R9
	JMP copy

done:
	MOVQ $64, AX
	SUBQ R8, AX
	ADDQ AX, DI
	MOVQ $64, R8

over:
	SUBQ $64, R8
	ADDQ $64, SI
	DECQ CX
	JNZ block
	MOVQ R8, R10

stop:
	ADDQ R10, SI
	SUBQ R13, SI
	SUBQ R12, DI
	MOVQ SI, read+32(FP)
	MOVQ DI, wrote+40(FP)
	VZEROUPPER
	RET

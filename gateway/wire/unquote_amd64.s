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

// func unquoteAVX512(dst, src *byte, n int) (read, wrote int)
//
// A block begins behind whole escapes. AX is where in it escapes begin, BX where their letters are; a block that ends within an
// escape is left at its backslash, so that the next begins there.
TEXT ·unquoteAVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), DX
	ADDQ SI, DX         // the end
	LEAQ -64(DX), R8    // the last whole block is here, at most
	MOVL $0x5c5c5c5c, AX
	VPBROADCASTD AX, Z1 // backslashes
	LEAQ ·escapes(SB), AX
	VMOVDQU64 (AX), Z10
	VMOVDQU64 64(AX), Z11
	CMPQ SI, R8
	JHI tail

load:
	VMOVDQU64 (SI), Z3
	VPCMPEQB Z1, Z3, K1
	KORTESTQ K1, K1
	JNZ found
	VMOVDQU64 Z3, (DI)
	ADDQ $64, DI
	ADDQ $64, SI
	CMPQ SI, R8
	JLS load

tail: // zeros stand for what is not there, and are counted off at the end
	MOVQ DX, CX
	SUBQ SI, CX
	JLE out
	MOVQ $-1, BX
	BZHIQ CX, BX, BX
	KMOVQ BX, K5
	VMOVDQU8.Z (SI), K5, Z3
	VPCMPEQB Z1, Z3, K1
	KORTESTQ K1, K1
	JNZ found
	VMOVDQU64 Z3, (DI)
	ADDQ CX, DI
	ADDQ CX, SI
	XORL CX, CX

out: // CX is how far from the end it is, 0 or less
	ADDQ CX, SI
	ADDQ CX, DI

done:
	SUBQ src+8(FP), SI
	SUBQ dst+0(FP), DI
	MOVQ SI, read+24(FP)
	MOVQ DI, wrote+32(FP)
	VZEROUPPER
	RET

found:
	KMOVQ K1, AX
	LEAQ (AX)(AX*1), BX
	TESTQ AX, BX
	JNZ runs

letters:
	KMOVQ BX, K2
	VPERMI2B Z11, Z10, K2, Z3
	VPTESTNMB Z3, Z3, K2, K3 // letters that stand for nothing by themselves
	KORTESTQ K3, K3
	JNZ before
	NOTQ AX
	KMOVQ AX, K1
	VPCOMPRESSB.Z Z3, K1, Z5
	VMOVDQU64 Z5, (DI)
	POPCNTQ AX, BX
	ADDQ BX, DI
	ADDQ $64, SI
	TESTQ AX, AX
	JPL cut             // a branch, for the next block is not to wait for AX
	CMPQ SI, R8
	JLS load
	JMP tail

cut:
	DECQ SI
	CMPQ SI, R8
	JLS load
	JMP tail

before: // BX are the bytes before the first escape that is not of one letter
	KMOVQ K3, BX
	TZCNTQ BX, CX
	DECQ CX
	NOTQ AX
	KMOVQ AX, K1
	VPCOMPRESSB.Z Z3, K1, Z5
	VMOVDQU64 Z5, (DI)
	BZHIQ CX, AX, AX
	POPCNTQ AX, BX
	ADDQ BX, DI
	ADDQ CX, SI
	JMP done

runs: // an escape begins at every other backslash of a run, from its first on
	ANDNQ AX, BX, R11
	MOVQ $0x5555555555555555, R12
	ANDQ R12, R11
	ADDQ AX, R11
	ANDNQ AX, R11, R11
	XORQ R11, AX
	ANDQ R12, R11
	ANDNQ AX, R12, AX
	ORQ R11, AX
	LEAQ (AX)(AX*1), BX
	JMP letters

#include "textflag.h"

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

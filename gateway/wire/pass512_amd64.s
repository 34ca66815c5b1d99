#include "textflag.h"

// What both routines do with a block, which begins behind whole escapes: AX is where its backslashes are, and then where escapes
// begin; BX is where the letters of these are. A block that ends within an escape is left at its backslash, so that the next
// begins there.

// func passAVX512(p *byte, n int) (at int, saw uint64)
//
// Bytes that are not there read as zeros, which stop at the latest: a control character, or no letter of an escape. \uXXXX is
// passed too, but for surrogates that are not both there.
TEXT ·passAVX512(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), DX
	LEAQ -64(SI)(DX*1), R8 // the last whole block is here, at most
	XORL R10, R10       // escapes seen
	KXORQ K7, K7, K7    // letters of loose escapes seen, wherever
	XORL DX, DX         // bytes over 7F seen,
	VPXOR X4, X4, X4    // and whole blocks
	MOVL $0x22222222, AX
	VPBROADCASTD AX, Z0 // quotes
	MOVL $0x5c5c5c5c, AX
	VPBROADCASTD AX, Z1 // backslashes
	MOVL $0x20202020, AX
	VPBROADCASTD AX, Z2 // above the control characters
	MOVL $0x2f2f2f2f, AX
	VPBROADCASTD AX, Z8 // slashes
	VMOVDQU64 letters<>+0(SB), Z10
	VMOVDQU64 letters<>+64(SB), Z11
	CMPQ SI, R8
	JHI tail

load:
	VMOVDQU64 (SI), Z3

judge:
	VPCMPEQB Z0, Z3, K1
	VPCMPEQB Z1, Z3, K2
	VPCMPUB $1, Z2, Z3, K3
	KORQ K1, K3, K1
	KORTESTQ K1, K2
	JNZ found
	VPORQ Z3, Z4, Z4
	ADDQ $64, SI
	CMPQ SI, R8
	JLS load

tail:
	LEAQ 64(R8), CX
	SUBQ SI, CX
	MOVQ $-1, AX
	BZHIQ CX, AX, AX
	KMOVQ AX, K5
	VMOVDQU8.Z (SI), K5, Z3
	JMP judge

found:
	KMOVQ K2, AX
	LEAQ (AX)(AX*1), BX
	TESTQ AX, BX
	JNZ runs

escapes:
	KMOVQ BX, K3
	VMOVDQA64 Z3, Z5
	VPERMI2B Z11, Z10, Z5
	VPCMPB $4, Z5, Z3, K3, K4 // what may not stand behind a backslash by itself
	KANDNQ K1, K3, K1         // quotes and control characters that do not
	VPCMPEQB Z8, Z3, K3, K3
	KORTESTQ K1, K4
	JNZ odd

passed:
	KORQ K3, K7, K7
	VPORQ Z3, Z4, Z4
	ORQ BX, R10
	ADDQ $64, SI
	TESTQ AX, AX
	JMI cut             // a branch, for the next block is not to wait for AX
	CMPQ SI, R8
	JLS load
	JMP tail

cut:
	DECQ SI
	CMPQ SI, R8
	JLS load
	JMP tail

runs: // an escape begins at every other backslash of a run, from its first on
	ANDNQ AX, BX, R11
	MOVQ $0x5555555555555555, R12
	ANDQ R12, R11       // the first of runs that begin at an even place
	ADDQ AX, R11        // a carry goes through each of those and clears it
	ANDNQ AX, R11, R11  // those runs
	XORQ R11, AX        // the others
	ANDQ R12, R11
	ANDNQ AX, R12, AX
	ORQ R11, AX
	LEAQ (AX)(AX*1), BX
	JMP escapes

odd: // it may be that nothing else is there than \uXXXX
	XORL R12, R12
	KMOVQ K1, R11
	KMOVQ K4, CX
	TESTQ CX, CX
	JZ stop
	VPBROADCASTB hexes<>+0(SB), Z12
	VPCMPEQB Z12, Z3, K4, K5
	KMOVQ K5, R9              // u
	TESTQ R9, R9
	JZ stop
	VPBROADCASTB hexes<>+1(SB), Z12
	VPSUBB Z12, Z3, Z6
	VPBROADCASTB hexes<>+2(SB), Z12
	VPCMPUB $2, Z12, Z6, K1
	VPORQ Z2, Z3, Z7          // in lower case
	VPBROADCASTB hexes<>+3(SB), Z12
	VPSUBB Z12, Z7, Z6
	VPBROADCASTB hexes<>+4(SB), Z12
	VPCMPUB $2, Z12, Z6, K2
	KORQ K1, K2, K1
	KMOVQ K1, R12             // hexadecimal digits
	VPBROADCASTB hexes<>+5(SB), Z12
	VPCMPEQB Z12, Z7, K2
	KMOVQ K2, R13             // d
	VPBROADCASTB hexes<>+6(SB), Z12
	VPCMPUB $5, Z12, Z7, K1, K5
	VPBROADCASTB hexes<>+7(SB), Z12
	VPCMPUB $5, Z12, Z7, K1, K6
	SHRQ $1, R13
	ANDQ R9, R13
	MOVQ R12, DI
	SHRQ $1, DI
	ANDQ DI, R12              // two in a row
	MOVQ R12, DI
	SHRQ $2, DI
	ANDQ DI, R12              // four
	SHRQ $1, R12
	ANDQ R9, R12
	KMOVQ K5, DI              // digits from 8 on
	SHRQ $2, DI
	ANDQ R13, DI              // surrogates
	KMOVQ K6, R13             // digits from c on
	SHRQ $2, R13
	ANDQ DI, R13              // second halves
	ANDNQ DI, R13, CX         // first halves
	ANDQ R12, R13
	ANDQ R12, CX
	SHRQ $6, R13
	ANDQ CX, R13
	MOVQ R13, CX
	SHLQ $6, CX
	ORQ CX, R13               // both halves of pairs
	ANDNQ DI, R13, DI         // and others
	ANDNQ R12, DI, R12        // all that is well
	KMOVQ R12, K5
	KORQ K5, K3, K3
	KMOVQ K4, CX
	ANDNQ CX, R12, CX
	MOVQ CX, DI
	SHRQ $1, DI
	ORQ R11, DI
	JZ passed
	TZCNTQ DI, DI             // the first that is not
	CMPQ DI, $53
	JLT stop
	LEAQ 1(DI), R13
	BTQ R13, R9
	JCC stop
	KMOVQ K3, R12
	BZHIQ DI, R12, R12
	KMOVQ R12, K3
	KORQ K3, K7, K7
	BZHIQ DI, BX, BX          // it may be cut off: the next block begins there
	ORQ BX, R10
	VPMOVB2M Z3, K1
	KMOVQ K1, AX
	BZHIQ DI, AX, AX
	ORQ AX, DX
	ADDQ DI, SI
	CMPQ SI, R8
	JLS load
	JMP tail

stop: // R11 and CX are what does not pass
	SHRQ $1, CX // to its backslash
	ORQ R11, CX
	TZCNTQ CX, BX
	BZHIQ BX, AX, AX
	ORQ AX, R10
	KMOVQ K3, R12
	BZHIQ BX, R12, R12
	KMOVQ K7, AX
	ORQ AX, R12
	VPMOVB2M Z3, K1
	KMOVQ K1, AX
	BZHIQ BX, AX, AX
	VPMOVB2M Z4, K1
	KMOVQ K1, CX
	ORQ CX, AX
	ORQ DX, AX
	ADDQ BX, SI
	SUBQ p+0(FP), SI
	MOVQ SI, at+16(FP)
	XORL BX, BX
	XORL CX, CX
	TESTQ AX, AX
	SETNE BX
	TESTQ R10, R10
	SETNE CX
	LEAQ (CX)(BX*2), CX
	XORL BX, BX
	TESTQ R12, R12
	SETNE BX
	LEAQ (CX)(BX*4), CX
	MOVQ CX, saw+24(FP)
	VZEROUPPER
	RET

// letters holds the letters of escapes in their own places, and elsewhere what no byte of the same place is.
#define none $0xffffffffffffffff
DATA letters<>+0(SB)/8, none
DATA letters<>+8(SB)/8, none
DATA letters<>+16(SB)/8, none
DATA letters<>+24(SB)/8, none
DATA letters<>+32(SB)/8, $0xffffffffff22ffff
DATA letters<>+40(SB)/8, $0x2fffffffffffffff
DATA letters<>+48(SB)/8, none
DATA letters<>+56(SB)/8, none
DATA letters<>+64(SB)/8, none
DATA letters<>+72(SB)/8, none
DATA letters<>+80(SB)/8, none
DATA letters<>+88(SB)/8, $0xffffff5cffffffff
DATA letters<>+96(SB)/8, $0xff66ffffff62ffff
DATA letters<>+104(SB)/8, $0xff6effffffffffff
DATA letters<>+112(SB)/8, $0xffffff74ff72ffff
DATA letters<>+120(SB)/8, $0x00ffffffffffffff
GLOBL letters<>(SB), RODATA|NOPTR, $128

// hexes are what \uXXXX is judged by: u; 0 and how many digits follow it; a and how many; d; 8; c.
DATA hexes<>+0(SB)/8, $0x6338640561093075
GLOBL hexes<>(SB), RODATA|NOPTR, $8

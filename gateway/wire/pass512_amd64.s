#include "textflag.h"

// What both routines do with a block, which begins behind whole escapes: AX is where its backslashes are, and then where escapes
// begin; BX is where the letters of these are. A block that ends within an escape is left at its backslash, so that the next
// begins there.

// func passAVX512(p *byte, n int, tables *[384]byte) (at int, saw uint64)
//
// Bytes that are not there read as zeros, which stop at the latest: a control character, or no letter of an escape. \uXXXX is
// passed too, but for surrogates that are not both there.
//
// Most text is read by four blocks at once, from a multiple of 64 on, which look for backslashes a byte before: there all but \",
// \f, \n, \r and \t is left to the way of single blocks, which next goes on for some. In both, what does not pass is not 0 in Z5,
// or in Z24 to Z27: of bytes behind a backslash the difference from a letter, of others how far below 21 they are, 20 and 22
// having changed places. Where no escape was seen yet, four blocks are looked up in the last table instead, wherever they begin,
// and every backslash is left to the way of single blocks. Masks are tested in a register, which takes less time than by KORTEST.
#define SINGLE 2
TEXT ·passAVX512(SB), NOSPLIT, $0-40
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), DX
	LEAQ -64(SI)(DX*1), R8 // the last whole block is here, at most
	XORL R10, R10       // escapes seen
	KXORQ K7, K7, K7    // letters of loose escapes seen, wherever
	XORL DX, DX         // bytes over 7F seen,
	VPXOR X4, X4, X4    // and whole blocks:
	VPXOR X11, X11, X11 // these two together
	MOVL $0x02020202, AX
	VPBROADCASTD AX, Z0
	MOVL $0x5c5c5c5c, AX
	VPBROADCASTD AX, Z1 // backslashes
	MOVL $0x21212121, AX
	VPBROADCASTD AX, Z2
	MOVQ tables+16(FP), R15
	MOVL $SINGLE, R13   // blocks still to be judged one by one
	CMPQ SI, R8
	JHI tail

load:
	VMOVDQU64 (SI), Z3

judge:
	VPCMPEQB Z1, Z3, K1
	KMOVQ K1, AX
	VPXORQ Z0, Z3, Z5
	VPSUBUSB Z5, Z2, Z5
	LEAQ (AX)(AX*1), BX
	TESTQ AX, BX
	JNZ runs

escapes:
	KMOVQ BX, K3
	VPERMB 64(R15), Z3, Z6
	VPSUBB Z6, Z3, K3, Z5
	VPTESTMB Z5, Z5, K4
	KMOVQ K4, CX
	TESTQ CX, CX
	JNZ odd

passed:
	VPORQ Z3, Z4, Z4
	ORQ BX, R10
	ADDQ $64, SI
	TESTQ AX, AX
	JMI cut             // a branch, for the next block is not to wait for AX
	DECL R13
	JGT next
	LEAQ 192(SI), R9
	CMPQ R9, R8
	JLS many
	JMP next

cut:
	DECQ SI
	DECL R13

next:
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

many: // behind 64 bytes of whole escapes and no run of backslashes: each there begins an escape
	LEAQ -192(R8), R9
	TESTQ R10, R10
	JZ plain
	ANDQ $~63, SI // what is judged again passes again
	VMOVDQU64 (R15), Z10

	PCALIGN $64
fours:
	VMOVDQU64 (SI), Z16
	VMOVDQU64 64(SI), Z17
	VMOVDQU64 128(SI), Z18
	VMOVDQU64 192(SI), Z19
	VPCMPEQB -1(SI), Z1, K1
	VPCMPEQB 63(SI), Z1, K2
	VPCMPEQB 127(SI), Z1, K3
	VPCMPEQB 191(SI), Z1, K4
	VPXORQ Z0, Z16, Z24
	VPXORQ Z0, Z17, Z25
	VPXORQ Z0, Z18, Z26
	VPXORQ Z0, Z19, Z27
	VPERMB.Z Z10, Z16, K1, Z20
	VPERMB.Z Z10, Z17, K2, Z21
	VPERMB.Z Z10, Z18, K3, Z22
	VPERMB.Z Z10, Z19, K4, Z23
	VPSUBUSB Z24, Z2, Z24
	VPSUBUSB Z25, Z2, Z25
	VPSUBUSB Z26, Z2, Z26
	VPSUBUSB Z27, Z2, Z27
	VPSUBB Z20, Z16, K1, Z24
	VPSUBB Z21, Z17, K2, Z25
	VPSUBB Z22, Z18, K3, Z26
	VPSUBB Z23, Z19, K4, Z27
	VPORQ Z24, Z25, Z28
	VPTERNLOGQ $0xfe, Z26, Z27, Z28
	VPTESTMB Z28, Z28, K5
	KMOVQ K5, AX
	TESTQ AX, AX
	JNZ apart
	VPTERNLOGQ $0xfe, Z16, Z17, Z4
	VPTERNLOGQ $0xfe, Z18, Z19, Z11
	ADDQ $256, SI
	CMPQ SI, R9
	JLS fours
	CMPB -1(SI), $0x5c
	JEQ cut
	JMP next

apart: // at least one is not so
	VPTESTMB Z24, Z24, K1
	VPTESTMB Z25, Z25, K2
	VPTESTMB Z26, Z26, K3
	KMOVQ K1, AX
	TESTQ AX, AX
	JNZ whole
	VPORQ Z16, Z4, Z4
	ADDQ $64, SI
	KMOVQ K2, AX
	TESTQ AX, AX
	JNZ whole
	VPORQ Z17, Z4, Z4
	ADDQ $64, SI
	KMOVQ K3, AX
	TESTQ AX, AX
	JNZ whole
	VPORQ Z18, Z4, Z4
	ADDQ $64, SI

whole: // this one is not so; it begins with the backslash before it
	MOVL $SINGLE, R13
	CMPB -1(SI), $0x5c
	JNE load
	DECQ SI
	JMP load

plain:
	VMOVDQU64 256(R15), Z22
	VMOVDQU64 320(R15), Z23

	PCALIGN $64
plains:
	VMOVDQU64 (SI), Z16
	VMOVDQU64 64(SI), Z17
	VMOVDQU64 128(SI), Z18
	VMOVDQU64 192(SI), Z19
	VMOVDQA64 Z16, Z24
	VMOVDQA64 Z17, Z25
	VMOVDQA64 Z18, Z26
	VMOVDQA64 Z19, Z27
	VPERMI2B Z23, Z22, Z24
	VPERMI2B Z23, Z22, Z25
	VPERMI2B Z23, Z22, Z26
	VPERMI2B Z23, Z22, Z27
	VPORQ Z16, Z24, Z28
	VPTERNLOGQ $0xe0, Z17, Z25, Z28
	VPTERNLOGQ $0xe0, Z18, Z26, Z28
	VPTERNLOGQ $0xe0, Z19, Z27, Z28
	VPMOVB2M Z28, K1
	KMOVQ K1, AX
	CMPQ AX, $-1
	JNE some
	VPTERNLOGQ $0xfe, Z16, Z17, Z4
	VPTERNLOGQ $0xfe, Z18, Z19, Z11
	ADDQ $256, SI
	CMPQ SI, R9
	JLS plains
	JMP next

some: // at least one is not so
	MOVL $SINGLE, R13
	VPORQ Z16, Z24, Z24
	VPORQ Z17, Z25, Z25
	VPORQ Z18, Z26, Z26
	VPMOVB2M Z24, K1
	VPMOVB2M Z25, K2
	VPMOVB2M Z26, K3
	KMOVQ K1, AX
	CMPQ AX, $-1
	JNE load
	VPORQ Z16, Z4, Z4
	ADDQ $64, SI
	KMOVQ K2, AX
	CMPQ AX, $-1
	JNE load
	VPORQ Z17, Z4, Z4
	ADDQ $64, SI
	KMOVQ K3, AX
	CMPQ AX, $-1
	JNE load
	VPORQ Z18, Z4, Z4
	ADDQ $64, SI
	JMP load

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
	MOVL $SINGLE+1, R13 // more of them are likely
	JMP escapes

odd: // it may be that nothing else is there than \b, \/ and \uXXXX
	XORL R12, R12
	VPXORQ Z0, Z3, Z5
	VPCMPUB $1, Z2, Z5, K1
	KMOVQ K1, R11
	XORL CX, CX
	TESTQ AX, AX
	JZ stop
	ANDNQ R11, BX, R11        // quotes and control characters that are no letters of escapes
	VMOVDQU64 128(R15), Z13
	VMOVDQA64 Z3, Z5
	VPERMI2B 192(R15), Z13, Z5
	VPCMPB $4, Z5, Z3, K3, K4 // what may not stand behind a backslash by itself
	KMOVQ K4, CX
	VPBROADCASTB hexes<>+8(SB), Z12
	VPCMPEQB Z12, Z3, K3, K3
	MOVQ CX, DI
	ORQ R11, DI
	JZ loose
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
	VPBROADCASTB hexes<>+9(SB), Z12
	VPORQ Z12, Z3, Z7         // in lower case
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
	VPCMPUB $5, Z12, Z7, K1, K2
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
	KMOVQ K2, R13             // digits from c on
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
	JZ loose
	TZCNTQ DI, DI             // the first that is not
	CMPQ DI, $53
	JLT stop
	LEAQ 1(DI), R13
	BTQ R13, R9
	JCC stop
	MOVL $SINGLE, R13
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

loose:
	MOVL $SINGLE+1, R13
	KORQ K3, K7, K7
	JMP passed

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
	VPORQ Z11, Z4, Z4
	VPMOVB2M Z4, K1
	KMOVQ K1, CX
	ORQ CX, AX
	ORQ DX, AX
	ADDQ BX, SI
	SUBQ p+0(FP), SI
	MOVQ SI, at+24(FP)
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
	MOVQ CX, saw+32(FP)
	VZEROUPPER
	RET

// hexes are what \uXXXX is judged by: u; 0 and how many digits follow it; a and how many; d; 8; c. A slash; 20.
DATA hexes<>+0(SB)/8, $0x6338640561093075
DATA hexes<>+8(SB)/2, $0x202f
GLOBL hexes<>(SB), RODATA|NOPTR, $10

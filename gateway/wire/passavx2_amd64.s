#include "textflag.h"

// Blocks are read as by passAVX512.

// func passAVX2(p *byte, blocks int) (at int, saw uint64)
TEXT ·passAVX2(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), SI
	MOVQ blocks+8(FP), R8
	SHLQ $6, R8
	LEAQ -64(SI)(R8*1), R8 // the last whole block
	XORL R10, R10          // escapes seen
	XORL R13, R13          // of them slashes
	VPXOR Y15, Y15, Y15    // all bytes seen
	VPXOR Y11, Y11, Y11
	MOVL $0x22222222, AX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0    // quotes
	MOVL $0x5c5c5c5c, AX
	VMOVD AX, X1
	VPBROADCASTD X1, Y1    // backslashes
	MOVL $0x1f1f1f1f, AX
	VMOVD AX, X2
	VPBROADCASTD X2, Y2    // the last control character
	MOVL $0x0f0f0f0f, AX
	VMOVD AX, X14
	VPBROADCASTD X14, Y14
	VBROADCASTI128 lowNibbles<>(SB), Y12
	VBROADCASTI128 highNibbles<>(SB), Y13

load2:
	VMOVDQU (SI), Y3
	VMOVDQU 32(SI), Y4
	VPCMPEQB Y1, Y3, Y5
	VPCMPEQB Y1, Y4, Y6
	VPCMPEQB Y0, Y3, Y7
	VPCMPEQB Y0, Y4, Y8
	VPMINUB Y2, Y3, Y9
	VPMINUB Y2, Y4, Y10
	VPCMPEQB Y3, Y9, Y9
	VPCMPEQB Y4, Y10, Y10
	VPOR Y7, Y9, Y7
	VPOR Y8, Y10, Y8
	VPOR Y5, Y7, Y9
	VPOR Y6, Y8, Y10
	VPOR Y9, Y10, Y9
	VPTEST Y9, Y9
	JNZ found2

passed2:
	VPOR Y3, Y4, Y9
	VPOR Y9, Y15, Y15
	ADDQ $64, SI
	CMPQ SI, R8
	JLS load2
	XORL AX, AX
	XORL BX, BX
	JMP out2

found2:
	VPMOVMSKB Y5, AX
	VPMOVMSKB Y6, BX
	SHLQ $32, BX
	ORQ BX, AX
	VPMOVMSKB Y7, CX
	VPMOVMSKB Y8, BX
	SHLQ $32, BX
	ORQ BX, CX
	LEAQ (AX)(AX*1), BX
	TESTQ AX, BX
	JNZ runs2

escapes2:
	ANDNQ CX, BX, CX // quotes and control characters that are no letter of an escape
	VPSRLW $4, Y3, Y9
	VPSRLW $4, Y4, Y10
	VPAND Y14, Y9, Y9
	VPAND Y14, Y10, Y10
	VPSHUFB Y9, Y13, Y9
	VPSHUFB Y10, Y13, Y10
	VPSHUFB Y3, Y12, Y5
	VPSHUFB Y4, Y12, Y6
	VPAND Y5, Y9, Y9
	VPAND Y6, Y10, Y10
	VPMOVMSKB Y9, R9
	VPMOVMSKB Y10, DI
	SHLQ $32, DI
	ORQ R9, DI
	ANDQ BX, DI // slashes behind a backslash
	VPCMPEQB Y11, Y9, Y9
	VPCMPEQB Y11, Y10, Y10
	VPMOVMSKB Y9, R9
	VPMOVMSKB Y10, R11
	SHLQ $32, R11
	ORQ R11, R9
	ANDQ BX, R9 // what may not stand behind a backslash by itself
	SHRQ $1, R9 // to its backslash
	ORQ CX, R9
	JNZ stop2
	ORQ BX, R10
	ORQ DI, R13
	TESTQ AX, AX
	JPL passed2
	DECQ SI // a branch, for the next block is not to wait for AX
	JMP passed2

runs2:
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
	JMP escapes2

stop2:
	TZCNTQ R9, BX
	BZHIQ BX, AX, AX
	ORQ AX, R10
	BZHIQ BX, DI, DI
	ORQ DI, R13
	VPMOVMSKB Y3, AX
	VPMOVMSKB Y4, CX
	SHLQ $32, CX
	ORQ CX, AX
	BZHIQ BX, AX, AX
	ADDQ BX, SI

out2:
	VPMOVMSKB Y15, CX
	ORQ CX, AX
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
	TESTQ R13, R13
	SETNE BX
	LEAQ (CX)(BX*4), CX
	MOVQ CX, saw+24(FP)
	VZEROUPPER
	RET

// A byte is a letter of an escape where what its nibbles have in common is not 0: 1 is for 2x, 2 for 5x, 4 for 6x, 8 for 7x,
// 80 for the slash.
DATA lowNibbles<>+0(SB)/8, $0x00040008000d0000
DATA lowNibbles<>+8(SB)/8, $0x8004000200000000
GLOBL lowNibbles<>(SB), RODATA|NOPTR, $16
DATA highNibbles<>+0(SB)/8, $0x0804020000810000
DATA highNibbles<>+8(SB)/8, $0
GLOBL highNibbles<>(SB), RODATA|NOPTR, $16

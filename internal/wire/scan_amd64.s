//go:build !purego

#include "textflag.h"

// SSE2, which every amd64 has, and for escaping SSSE3, if it is there. What more a processor
// may have is in wide_amd64.s.

// SPREAD puts 16 copies of a byte into a register.
#define SPREAD(bytes, reg) \
	MOVQ       bytes, AX \
	MOVQ       AX, reg   \
	PUNPCKLQDQ reg, reg

// SPECIAL16 puts the mask of the special bytes at off(SI) into reg. min(x, 0x1f)
// is x itself for control characters only.
#define SPECIAL16(off, reg) \
	MOVOU    off(SI), X0 \
	MOVO     X0, X1      \
	MOVO     X0, X2      \
	PMINUB   X12, X1     \
	PCMPEQB  X0, X1      \
	PCMPEQB  X13, X2     \
	PCMPEQB  X14, X0     \
	POR      X1, X0      \
	POR      X2, X0      \
	PMOVMSKB X0, reg

// func specialsSSE2(masks *uint64, b *byte, n int)
TEXT ·specialsSSE2(SB), NOSPLIT, $0-24
	MOVQ masks+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ n+16(FP), CX
	SPREAD($0x1f1f1f1f1f1f1f1f, X12)
	SPREAD($0x2222222222222222, X13) // quotes
	SPREAD($0x5c5c5c5c5c5c5c5c, X14) // backslashes

block:
	SPECIAL16(0, AX)
	SPECIAL16(16, BX)
	SPECIAL16(32, R8)
	SPECIAL16(48, R9)
	SHLQ $16, BX
	SHLQ $32, R8
	SHLQ $48, R9
	ORQ  BX, AX
	ORQ  R9, R8
	ORQ  R8, AX
	MOVQ AX, (DI)
	ADDQ $64, SI
	ADDQ $8, DI
	DECQ CX
	JNZ  block
	RET

// QUOTE16 leaves the quotes at off(SI) in reg that do not stand behind exactly
// one backslash. PANDN complements its second operand.
#define QUOTE16(off, reg) \
	MOVOU   off(SI), X0       \
	MOVOU   (off-1)(SI), X1   \
	MOVOU   (off-2)(SI), reg  \
	PCMPEQB X13, X0           \
	PCMPEQB X14, X1           \
	PCMPEQB X14, reg          \
	PANDN   X1, reg           \
	PANDN   X0, reg

// func quoteNearSSE2(b *byte, n int) int
TEXT ·quoteNearSSE2(SB), NOSPLIT, $0-24
	MOVQ b+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ SI, DI
	SPREAD($0x2222222222222222, X13) // quotes
	SPREAD($0x5c5c5c5c5c5c5c5c, X14) // backslashes

block:
	QUOTE16(0, X2)
	QUOTE16(16, X3)
	QUOTE16(32, X4)
	QUOTE16(48, X5)
	MOVO     X2, X6
	MOVO     X4, X7
	POR      X3, X6
	POR      X5, X7
	POR      X7, X6
	PMOVMSKB X6, AX
	TESTL    AX, AX
	JNZ      found
	ADDQ     $64, SI
	DECQ     CX
	JNZ      block
	SUBQ     DI, SI
	MOVQ     SI, ret+16(FP)
	RET

found:
	PMOVMSKB X2, AX
	PMOVMSKB X3, BX
	PMOVMSKB X4, R8
	PMOVMSKB X5, R9
	SHLQ     $16, BX
	SHLQ     $32, R8
	SHLQ     $48, R9
	ORQ      BX, AX
	ORQ      R9, R8
	ORQ      R8, AX
	BSFQ     AX, AX
	SUBQ     DI, SI
	ADDQ     SI, AX
	MOVQ     AX, ret+16(FP)
	RET

// CLASSES loads 16 bytes from SI into X0, and marks the control characters among them in
// X1, the quotes in X2 and the backslashes in X3. min(x, 0x1f) is x itself for control
// characters only.
#define CLASSES \
	MOVOU   (SI), X0 \
	MOVO    X0, X1   \
	MOVO    X0, X2   \
	MOVO    X0, X3   \
	PMINUB  X12, X1  \
	PCMPEQB X0, X1   \
	PCMPEQB X13, X2  \
	PCMPEQB X14, X3

// HALF writes the eight bytes in the low half of reg to DI, escaped as the low
// eight bits of AX say, and moves DI behind them. The high half of reg is all
// backslashes; the control that puts them between is between[mask].
#define HALF(reg) \
	MOVBLZX AX, R8        \
	POPCNTL R8, R9        \
	SHLL    $4, R8        \
	MOVOU   (R12)(R8*1), X8 \
	PSHUFB  X8, reg       \
	MOVOU   reg, (DI)     \
	LEAQ    8(DI)(R9*1), DI

// func escapeSSSE3(dst, src *byte, blocks int, between *[256][16]byte, shorts *[256]byte) (wrote, read int)
TEXT ·escapeSSSE3(SB), NOSPLIT, $0-56
	MOVQ  dst+0(FP), DI
	MOVQ  src+8(FP), SI
	MOVQ  blocks+16(FP), CX
	SPREAD($0x7070707070707070, X10)
	MOVQ  shorts+32(FP), AX
	MOVOU (AX), X11                  // what follows the backslash, by control character
	SPREAD($0x1f1f1f1f1f1f1f1f, X12)
	SPREAD($0x2222222222222222, X13) // quotes
	SPREAD($0x5c5c5c5c5c5c5c5c, X14) // backslashes
	PXOR  X9, X9
	MOVQ  between+24(FP), R12

block:
	CLASSES
	POR      X1, X2
	POR      X3, X2
	PMOVMSKB X2, AX     // all that is escaped

	// Control characters become what follows their backslash. 0x70 more than one
	// above 0x0f has the high bit, for which PSHUFB gives zero.
	MOVO     X0, X4
	PADDUSB  X10, X4
	MOVO     X11, X5
	PSHUFB   X4, X5
	PAND     X1, X5
	PANDN    X0, X1
	POR      X5, X1
	MOVO     X1, X6
	PCMPEQB  X9, X6
	PMOVMSKB X6, BX
	TESTL    BX, BX
	JNZ      done       // one that has no short escape

	MOVO       X1, X7
	PUNPCKLQDQ X14, X7
	PUNPCKHQDQ X14, X1
	HALF(X7)
	SHRL       $8, AX
	HALF(X1)
	ADDQ       $16, SI
	DECQ       CX
	JNZ        block

done:
	SUBQ dst+0(FP), DI
	SUBQ src+8(FP), SI
	MOVQ DI, wrote+40(FP)
	MOVQ SI, read+48(FP)
	RET

// REST writes the eight bytes in the low half of reg to DI, without those that the mask
// in R8's lowest byte means, and moves DI behind them.
#define REST(reg) \
	MOVBLZX R8, R9              \
	MOVQ    (R12)(R9*8), X5     \
	PSHUFB  X5, reg             \
	MOVQ    reg, (DI)           \
	POPCNTL R9, R9              \
	ADDQ    $8, DI              \
	SUBQ    R9, DI

// func unescapeSSSE3(dst, src *byte, blocks int, without *[256][8]byte, plain *[3][16]byte) (wrote, read int)
TEXT ·unescapeSSSE3(SB), NOSPLIT, $0-56
	MOVQ  dst+0(FP), DI
	MOVQ  src+8(FP), SI
	MOVQ  blocks+16(FP), CX
	MOVQ  without+24(FP), R12
	MOVQ  plain+32(FP), AX
	MOVOU (AX), X9                   // the letter of a plain escape, by four bits that letters differ in
	MOVOU 16(AX), X10                // what it stands for, by the same
	MOVOU 32(AX), X11                // the bit that means a byte, in a mask of eight
	SPREAD($0x0f0f0f0f0f0f0f0f, X8)
	SPREAD($0x1f1f1f1f1f1f1f1f, X12)
	SPREAD($0x2222222222222222, X13) // quotes
	SPREAD($0x5c5c5c5c5c5c5c5c, X14) // backslashes

block:
	CLASSES

	// What stands behind an odd number of backslashes is escaped. A run of them that
	// begins at an odd place carries out of it in the sum.
	PMOVMSKB X3, BX
	LEAL     (BX)(BX*1), R8  // behind one
	MOVL     R8, R9
	NOTL     R9
	ANDL     BX, R9
	ANDL     $0xaaaa, R9     // where runs begin at an odd place
	ADDL     BX, R9
	ADDL     R9, R9
	XORL     $0x55555555, R9
	ANDL     R9, R8          // the escaped; number 16 is the first of the next block

	// The bits of the mask become bytes: its low byte spread over the low half.
	MOVQ      R8, X4
	PUNPCKLBW X4, X4
	PSHUFLW   $0x50, X4, X4
	PSHUFL    $0x50, X4, X4
	PAND      X11, X4
	PCMPEQB   X11, X4

	MOVO   X0, X5
	PSRLW  $2, X5
	MOVO   X5, X7
	PSRLW  $1, X7
	PADDB  X7, X5
	PAND   X8, X5           // four bits in which the letters differ
	MOVO   X10, X7
	PSHUFB X5, X7
	MOVO   X9, X6
	PSHUFB X5, X6

	PCMPEQB  X0, X6
	PANDN    X4, X6          // escapes that are not plain, or none
	MOVO     X4, X3
	PANDN    X2, X3          // a quote that ends the string
	POR      X1, X6
	POR      X3, X6
	PMOVMSKB X6, AX
	TESTL    AX, AX
	JNZ      done

	PAND  X4, X7
	PANDN X0, X4
	POR   X7, X4

	ADDQ    $16, SI
	TESTL   $0x10000, R8
	JNZ     last
write:
	SHRL    $1, R8           // the backslashes that escape
	MOVO    X4, X6
	REST(X6)
	SHRL    $8, R8
	PSRLO   $8, X4
	REST(X4)
	DECQ    CX
	JNZ     block

done:
	SUBQ dst+0(FP), DI
	SUBQ src+8(FP), SI
	MOVQ DI, wrote+40(FP)
	MOVQ SI, read+48(FP)
	RET

last: // byte escapes the first of the next block, which begins with it; to jump is faster than to count
	DECQ SI
	JMP  write

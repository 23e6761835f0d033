//go:build !purego

#include "textflag.h"

// SPREAD puts 16 copies of a byte into a register.
#define SPREAD(bytes, reg) \
	MOVQ       bytes, AX \
	MOVQ       AX, reg   \
	PUNPCKLQDQ reg, reg

// CLASSES loads 16 bytes from SI into X0 and marks control characters in X1, quotes in X2
// and backslashes in X3. min(x, 0x1f) equals x for control characters only.
#define CLASSES \
	MOVOU   (SI), X0 \
	MOVO    X0, X1   \
	MOVO    X0, X2   \
	MOVO    X0, X3   \
	PMINUB  X12, X1  \
	PCMPEQB X0, X1   \
	PCMPEQB X13, X2  \
	PCMPEQB X14, X3

// HALF writes the eight bytes in the low half of reg to DI, with a backslash before each
// byte in the mask in the low eight bits of AX, and advances DI. The high half of reg must
// be all backslashes; R12 points at the table of insertions.
#define HALF(reg) \
	MOVBLZX AX, R8        \
	POPCNTL R8, R9        \
	SHLL    $4, R8        \
	MOVOU   (R12)(R8*1), X8 \
	PSHUFB  X8, reg       \
	MOVOU   reg, (DI)     \
	LEAQ    8(DI)(R9*1), DI

// func escapeSSSE3(dst, src *byte, blocks int, insertions *[256][16]byte, shortEscapes *[256]byte) (wrote, read int)
TEXT ·escapeSSSE3(SB), NOSPLIT, $0-56
	MOVQ  dst+0(FP), DI
	MOVQ  src+8(FP), SI
	MOVQ  blocks+16(FP), CX
	SPREAD($0x7070707070707070, X10)
	MOVQ  shortEscapes+32(FP), AX
	MOVOU (AX), X11                  // letters of short escapes, by control character
	SPREAD($0x1f1f1f1f1f1f1f1f, X12)
	SPREAD($0x2222222222222222, X13) // quotes
	SPREAD($0x5c5c5c5c5c5c5c5c, X14) // backslashes
	PXOR  X9, X9
	MOVQ  insertions+24(FP), R12

block:
	CLASSES
	POR      X1, X2
	POR      X3, X2
	PMOVMSKB X2, AX     // bytes to escape

	// Replace control characters by the letters of their escapes. Adding 0x70 sets the
	// high bit of those above 0x0f, for which PSHUFB gives zero.
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
	JNZ      done       // a control character without short escape

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

// REMOVE writes the eight bytes in the low half of reg to DI, without those in the mask in
// the low byte of R8, and advances DI. R12 points at the table of removals.
#define REMOVE(reg) \
	MOVBLZX R8, R9              \
	MOVQ    (R12)(R9*8), X5     \
	PSHUFB  X5, reg             \
	MOVQ    reg, (DI)           \
	POPCNTL R9, R9              \
	ADDQ    $8, DI              \
	SUBQ    R9, DI

// func unescapeSSSE3(dst, src *byte, blocks int, removals *[256][8]byte, escapeTables *[3][16]byte) (wrote, read int)
TEXT ·unescapeSSSE3(SB), NOSPLIT, $0-56
	MOVQ  dst+0(FP), DI
	MOVQ  src+8(FP), SI
	MOVQ  blocks+16(FP), CX
	MOVQ  removals+24(FP), R12
	MOVQ  escapeTables+32(FP), AX
	MOVOU (AX), X9                   // letters of short escapes
	MOVOU 16(AX), X10                // the bytes they stand for
	MOVOU 32(AX), X11                // the bit of each byte in a mask of eight
	SPREAD($0x0f0f0f0f0f0f0f0f, X8)
	SPREAD($0x1f1f1f1f1f1f1f1f, X12)
	SPREAD($0x2222222222222222, X13) // quotes
	SPREAD($0x5c5c5c5c5c5c5c5c, X14) // backslashes

block:
	CLASSES

	// A byte after an odd number of backslashes is escaped. Adding to the mask the starts of
	// the runs that begin at an odd bit makes these runs carry out.
	PMOVMSKB X3, BX
	LEAL     (BX)(BX*1), R8  // bytes after a backslash
	MOVL     R8, R9
	NOTL     R9
	ANDL     BX, R9
	ANDL     $0xaaaa, R9     // starts of runs at odd bits
	ADDL     BX, R9
	ADDL     R9, R9
	XORL     $0x55555555, R9
	ANDL     R9, R8          // escaped bytes; bit 16 is the first of the next block

	// Expand the bits of the mask to bytes.
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
	PAND   X8, X5           // four bits in which letters differ
	MOVO   X10, X7
	PSHUFB X5, X7
	MOVO   X9, X6
	PSHUFB X5, X6

	PCMPEQB  X0, X6
	PANDN    X4, X6          // escapes that are not short, or invalid
	MOVO     X4, X3
	PANDN    X2, X3          // quotes that end the string
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
	SHRL    $1, R8           // backslashes to remove
	MOVO    X4, X6
	REMOVE(X6)
	SHRL    $8, R8
	PSRLO   $8, X4
	REMOVE(X4)
	DECQ    CX
	JNZ     block

done:
	SUBQ dst+0(FP), DI
	SUBQ src+8(FP), SI
	MOVQ DI, wrote+40(FP)
	MOVQ SI, read+48(FP)
	RET

last: // a backslash that escapes the first byte of the next block is left to that block
	DECQ SI
	JMP  write

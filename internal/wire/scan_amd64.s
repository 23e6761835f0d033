//go:build !purego

#include "textflag.h"

// Only SSE2 is used, which every amd64 has.

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

//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// What codes does, with the shifts of BMI2, which need no fixed register, and with the next
// entry looked up before a match is copied.
//
//	AX  the entry for the next bits; CX is for what is needed at once
//	BX  the next bits
//	DX  how many of them count, in its lowest byte
//	SI  the input behind them, R8 the last place where a symbol may begin there
//	DI  where is written next, R9 the last place for that, R10 where the output begins
//	R11 the table of literals and lengths, R12 that of distances
//	R13 a length, or where a match ends
//	R15 a distance

// What keeps it in bounds:
//
// At symbol SI and DI are at most R8 and R9. A symbol is looked at with two REFILLs at most: the
// first moves SI by 7 bytes at most, so that the second ends 15 behind R8. Two literals and a
// match of 258 bytes end 260 behind R9, and what is copied at most 31 behind that, or, of a short
// match, 48 behind its beginning. What is too much lies in the room, behind what is written: nothing
// of value is there. A match is copied from R10 on, where the output of all calls begins, and from
// before DI, as no distance is 0.
//
// The lowest byte of DX is 11 to 63 wherever the first table of literals and lengths is asked: of 56
// bits after a REFILL three short literals take 33, two and a length 42, a distance 28 of 39. All
// entries of a first table are made anew with the table, and all of a second that one of them leads
// to: a code that has one has no gaps. So what another block left in a table is never looked at.

// Neither a length nor a distance, or one that is in a second table.
#define unusual const_isSub|const_isEnd|const_isNone

// REFILL reads as many bytes as there is room for, of eight.
#define REFILL \
	MOVQ  (SI), CX   \
	SHLXQ DX, CX, CX \
	ORQ   CX, BX     \
	MOVL  DX, CX     \
	NOTL  CX         \
	SHRL  $3, CX     \
	ANDL  $7, CX     \
	ADDQ  CX, SI     \
	ORL   $56, DX

// ENTRY looks the next bits up.
#define ENTRY(table, bits) \
	MOVL BX, AX              \
	ANDL $((1<<bits)-1), AX  \
	MOVL (table)(AX*4), AX

// SECOND looks those behind them up, in the second table that the entry says.
#define SECOND(table, bits) \
	MOVQ  BX, CX     \
	SHRQ  $bits, CX  \
	BZHIQ AX, CX, CX \
	SHRL  $16, AX    \
	ADDQ  CX, AX     \
	MOVL  (table)(AX*4), AX

// TAKE takes the bits of the entry. Of its own bits only the lowest matter.
#define TAKE \
	SHRXQ AX, BX, BX \
	SUBL  AX, DX

// LITERAL writes that of the entry, and looks up what follows.
#define LITERAL \
	TAKE           \
	SHRL $16, AX   \
	MOVB AX, (DI)  \
	INCQ DI        \
	ENTRY(R11, const_litBits)

// NUMBER is the length or the distance of the entry, with its extra bits.
#define NUMBER(reg) \
	BZHIQ AX, BX, reg  \
	MOVL  AX, CX       \
	SHRL  $8, CX       \
	SHRXQ CX, reg, reg \
	TAKE               \
	SHRL  $16, AX      \
	ADDQ  AX, reg

#define COPY16(at) \
	MOVOU at(CX), X0 \
	MOVOU X0, at(DI)

// func codesBMI2(lit, dist *code, in *byte, pos, mostIn int, out *byte, w, mostOut int, next uint64, n int) (next2 uint64, n2, pos2, w2 int, p progress)
TEXT ·codesBMI2(SB), NOSPLIT, $0-120
	MOVQ lit+0(FP), R11
	MOVQ dist+8(FP), R12
	MOVQ in+16(FP), CX
	MOVQ pos+24(FP), SI
	ADDQ CX, SI
	MOVQ mostIn+32(FP), R8
	ADDQ CX, R8
	MOVQ out+40(FP), R10
	MOVQ w+48(FP), DI
	ADDQ R10, DI
	MOVQ mostOut+56(FP), R9
	ADDQ R10, R9
	MOVQ next+64(FP), BX
	MOVQ n+72(FP), DX
	ENTRY(R11, const_litBits)

	PCALIGN $64
symbol:
	CMPQ  SI, R8
	JHI   stop
	CMPQ  DI, R9
	JHI   stop
	REFILL
	TESTL $const_isLiteral, AX
	JZ    number
	LITERAL
	TESTL $const_isLiteral, AX
	JZ    number
	LITERAL
	TESTL $const_isLiteral, AX
	JZ    number
	LITERAL
	JMP   symbol

number: // two short literals leave 34 bits of 56
	TESTL $(unusual), AX
	JNZ   second

length:
	NUMBER(R13)
	CMPB  DX, $(const_maxDistance+const_litBits) // for what follows is looked up without more
	JCS   refill

refilled:
	ENTRY(R12, const_distBits)
	TESTL $(unusual), AX
	JNZ   secondDistance

distance:
	NUMBER(R15)
	ENTRY(R11, const_litBits) // of what follows, while this is copied
	MOVQ  DI, CX
	SUBQ  R15, CX
	CMPQ  CX, R10
	JCS   refuse
	CMPQ  R15, $16
	JCS   near
	COPY16(0)                 // what is too much is written over
	COPY16(16)
	COPY16(32)
	CMPQ  R13, $48
	JHI   far
	ADDQ  R13, DI
	JMP   symbol

far:
	ADDQ DI, R13
	ADDQ $48, CX
	ADDQ $48, DI

far32:
	COPY16(0)
	COPY16(16)
	ADDQ $32, CX
	ADDQ $32, DI
	CMPQ DI, R13
	JCS  far32
	MOVQ R13, DI
	JMP  symbol

near: // what is copied is copied again, each time twice as much of it
	ADDQ DI, R13

twice:
	COPY16(0)
	ADDQ R15, DI
	ADDQ R15, R15
	CMPQ R15, $16
	JCS  twice

near16:
	COPY16(0)
	ADDQ $16, CX
	ADDQ $16, DI
	CMPQ DI, R13
	JCS  near16
	MOVQ R13, DI
	JMP  symbol

refill:
	REFILL
	JMP refilled

second:
	TESTL $const_isSub, AX
	JZ    end
	SECOND(R11, const_litBits)
	TESTL $const_isLiteral, AX
	JZ    number
	LITERAL
	JMP   symbol

secondDistance:
	TESTL $const_isNone, AX
	JNZ   refuse
	SECOND(R12, const_distBits)
	TESTL $const_isNone, AX
	JZ    distance

refuse:
	MOVQ $const_refused, CX
	JMP  return

end:
	TESTL $const_isNone, AX
	JNZ   refuse
	TAKE
	MOVQ  $const_done, CX
	JMP   return

stop:
	MOVQ $const_short, CX

return:
	MOVBLZX DX, DX
	SUBQ    in+16(FP), SI
	SUBQ    R10, DI
	MOVQ    BX, next2+80(FP)
	MOVQ    DX, n2+88(FP)
	MOVQ    SI, pos2+96(FP)
	MOVQ    DI, w2+104(FP)
	MOVQ    CX, p+112(FP)
	RET

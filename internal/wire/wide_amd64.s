//go:build !purego

#include "textflag.h"

// AVX2, and AVX-512 with VBMI2, where bytes are left out of a register by a mask.

// SPREAD64 puts 64 copies of a byte into a register.
#define SPREAD64(byte, reg) \
	MOVL         byte, AX \
	VPBROADCASTB AX, reg

// RETURN tells how far from dst and src the registers have come.
#define RETURN \
	VZEROUPPER              \
	SUBQ dst+0(FP), DI      \
	SUBQ src+8(FP), SI      \
	MOVQ DI, wrote+32(FP)   \
	MOVQ SI, read+40(FP)    \
	RET

// func escapeVBMI2(dst, src *byte, blocks int, shorts *[256]byte) (wrote, read int)
TEXT ·escapeVBMI2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	MOVQ shorts+24(FP), AX
	VMOVDQU8 (AX), Y11           // what follows the backslash, by control character
	SPREAD64($0x20, Y12)
	SPREAD64($0x22, Y13)         // quotes
	SPREAD64($0x5c, Y14)         // backslashes
	MOVL $0x005c, AX
	VPBROADCASTW AX, Z15         // backslashes with room behind them
	MOVQ $0x5555555555555555, R10
	MOVQ $0xaaaaaaaaaaaaaaaa, R11

block:
	VMOVDQU8  (SI), Y0
	VPCMPUB   $1, Y12, Y0, K1    // control characters
	VPCMPEQB  Y13, Y0, K2
	VPCMPEQB  Y14, Y0, K3
	VPERMB    Y11, Y0, K1, Y0    // become what follows their backslash
	VPTESTNMB Y0, Y0, K4         // those that have no short escape
	KORTESTD  K4, K4
	JNZ       done
	KORD      K2, K1, K1
	KORD      K3, K1, K1
	KMOVD     K1, AX             // all that is escaped
	POPCNTL   AX, R9

	// Every byte becomes two, a backslash and itself; the backslashes that are not needed
	// are left out.
	VPMOVZXBW   Y0, Z1
	VPSLLW      $8, Z1, Z1
	VPORQ       Z15, Z1, Z1
	PDEPQ       R10, AX, AX
	ORQ         R11, AX
	KMOVQ       AX, K5
	VPCOMPRESSB.Z Z1, K5, Z1
	VMOVDQU8    Z1, (DI)
	LEAQ        32(DI)(R9*1), DI
	ADDQ        $32, SI
	DECQ        CX
	JNZ         block

done:
	RETURN

// func unescapeVBMI2(dst, src *byte, blocks int, escapes *[256]byte) (wrote, read int)
TEXT ·unescapeVBMI2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	MOVQ escapes+24(FP), AX
	VMOVDQU8 (AX), Z10           // what the letter of an escape stands for
	VMOVDQU8 64(AX), Z11
	SPREAD64($0x20, Z12)
	SPREAD64($0x22, Z13)         // quotes
	SPREAD64($0x5c, Z14)         // backslashes
	MOVQ $0x5555555555555555, R12
	MOVQ $0xaaaaaaaaaaaaaaaa, R13

block:
	VMOVDQU8 (SI), Z0
	VPCMPUB  $1, Z12, Z0, K1     // control characters
	VPCMPEQB Z13, Z0, K2
	VPCMPEQB Z14, Z0, K3
	VPMOVB2M Z0, K4              // beyond ASCII
	VMOVDQA64 Z0, Z1
	VPERMI2B Z11, Z10, Z1        // by seven bits of each byte
	VPTESTNMB Z1, Z1, K5         // what is no letter of a plain escape

	// What stands behind an odd number of backslashes is escaped. A run of them that
	// begins at an odd place carries out of it in the sum.
	KMOVQ K3, BX
	LEAQ  (BX)(BX*1), R8         // behind one
	ANDNQ BX, R8, R9
	ANDQ  R13, R9                // where runs begin at an odd place
	ADDQ  BX, R9
	ADDQ  R9, R9
	XORQ  R12, R9
	ANDQ  R9, R8                 // the escaped
	ANDNQ BX, R8, BX             // the backslashes that escape
	KMOVQ R8, K3

	KORQ   K4, K5, K5
	KANDQ  K3, K5, K5            // escapes that are not plain, or none
	KANDNQ K2, K3, K2            // a quote that ends the string
	KORQ   K1, K2, K2
	KORQ   K5, K2, K2
	KMOVQ  K2, DX

	VMOVDQU8 Z1, K3, Z0
	NOTQ     BX                  // what is kept
	MOVQ     $1, AX
	SHLQ     $63, AX
	ANDNQ    AX, BX, AX          // the last byte, if it escapes the first of the next block
	ORQ      DX, AX
	JNZ      part
	KMOVQ    BX, K4
	VPCOMPRESSB.Z Z0, K4, Z0
	VMOVDQU8 Z0, (DI)
	POPCNTQ  BX, BX
	ADDQ     BX, DI
	ADDQ     $64, SI
	DECQ     CX
	JNZ      block

done:
	RETURN

part: // up to the first such byte, or to the backslash before it
	TZCNTQ   AX, R9
	BTQ      R9, R8
	SBBQ     $0, R9
	BZHIQ    R9, BX, BX
	KMOVQ    BX, K4
	VPCOMPRESSB.Z Z0, K4, Z0
	VMOVDQU8 Z0, (DI)
	POPCNTQ  BX, BX
	ADDQ     BX, DI
	ADDQ     R9, SI
	CMPQ     R9, $63
	JNE      done
	DECQ     CX
	JNZ      block
	JMP      done

// SPREAD32 puts 32 copies of a byte into a register, of which low is the half. It is VMOVD
// because the other moves are slow where the upper halves are in use.
#define SPREAD32(byte, low, reg) \
	MOVL         byte, AX \
	VMOVD        AX, low  \
	VPBROADCASTB low, reg

// func validAVX2(b *byte, blocks int, pairs *[3][16]byte) int
TEXT ·validAVX2(SB), NOSPLIT, $0-32
	MOVQ b+0(FP), SI
	MOVQ blocks+8(FP), CX
	MOVQ pairs+16(FP), AX
	VBROADCASTI128 (AX), Y10     // by the high half of a byte
	VBROADCASTI128 16(AX), Y11   // by its low half
	VBROADCASTI128 32(AX), Y12   // by the high half of the byte behind it
	SPREAD32($0x0f, X13, Y13)
	SPREAD32($0x60, X14, Y14)    // 0xe0, which begins three bytes, less 0x80
	SPREAD32($0x70, X15, Y15)    // 0xf0, which begins four, less 0x80
	SPREAD32($0x80, X9, Y9)
	VPXOR Y1, Y1, Y1             // the block before

block:
	VMOVDQU   (SI), Y0
	VPOR      Y0, Y1, Y2
	VPMOVMSKB Y2, AX
	TESTL     AX, AX
	JNZ       wide

next:
	VMOVDQA Y0, Y1
	ADDQ    $32, SI
	DECQ    CX
	JNZ     block

done:
	VZEROUPPER
	SUBQ b+0(FP), SI
	MOVQ SI, ret+24(FP)
	RET

wide:
	VPERM2I128 $0x21, Y0, Y1, Y2
	VPALIGNR   $15, Y2, Y0, Y3   // the byte before each
	VPALIGNR   $14, Y2, Y0, Y4   // the byte before that
	VPALIGNR   $13, Y2, Y0, Y5   // and before that

	VPSRLW  $4, Y3, Y6
	VPAND   Y13, Y6, Y6
	VPSHUFB Y6, Y10, Y6
	VPAND   Y13, Y3, Y3
	VPSHUFB Y3, Y11, Y3
	VPAND   Y3, Y6, Y6
	VPSRLW  $4, Y0, Y7
	VPAND   Y13, Y7, Y7
	VPSHUFB Y7, Y12, Y7
	VPAND   Y7, Y6, Y6           // what is wrong with the two, the high bit if both go on

	VPSUBUSB Y14, Y4, Y4
	VPSUBUSB Y15, Y5, Y5
	VPOR     Y5, Y4, Y4
	VPAND    Y9, Y4, Y4          // where both have to
	VPXOR    Y4, Y6, Y6
	VPTEST   Y6, Y6
	JZ       next
	JMP      done

// func textEndAVX512(b *byte, blocks int) (n int, wide uint64)
TEXT ·textEndAVX512(SB), NOSPLIT, $0-32
	MOVQ b+0(FP), SI
	MOVQ blocks+8(FP), CX
	SPREAD64($0x20, Z12)
	SPREAD64($0x22, Z13)         // quotes
	SPREAD64($0x5c, Z14)         // backslashes
	XORL DX, DX

block:
	VMOVDQU8 (SI), Z0
	VPCMPUB  $1, Z12, Z0, K1     // control characters
	VPCMPEQB Z13, Z0, K2
	VPCMPEQB Z14, Z0, K3
	VPMOVB2M Z0, K4              // beyond ASCII
	KORQ     K1, K2, K2
	KORQ     K3, K2, K2
	KMOVQ    K2, AX
	KMOVQ    K4, BX
	TESTQ    AX, AX
	JNZ      found
	ORQ      BX, DX
	ADDQ     $64, SI
	DECQ     CX
	JNZ      block

done:
	VZEROUPPER
	SUBQ b+0(FP), SI
	MOVQ SI, n+16(FP)
	MOVQ DX, wide+24(FP)
	RET

found:
	TZCNTQ AX, AX
	ADDQ   AX, SI
	BZHIQ  AX, BX, BX
	ORQ    BX, DX
	JMP    done

//go:build !purego

#include "textflag.h"

// SPREAD puts 64 copies of a byte into a register.
#define SPREAD(byte, reg) \
	MOVL         byte, AX \
	VPBROADCASTB AX, reg

// func classesAVX512(s *byte, n int) (words, wide uint64)
TEXT ·classesAVX512(SB), NOSPLIT, $0-32
	MOVQ s+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ $-1, AX
	BZHIQ CX, AX, AX
	KMOVQ AX, K1
	VMOVDQU8.Z (SI), K1, Z0 // no byte is read that the mask does not mean
	SPREAD($0x20, Z1)
	SPREAD($97, Z2)         // a
	SPREAD($26, Z3)
	SPREAD($48, Z4)         // 0
	SPREAD($10, Z5)
	VPORQ   Z0, Z1, Z1
	VPSUBB  Z2, Z1, Z1
	VPCMPUB $1, Z3, Z1, K2  // letters
	VPSUBB  Z4, Z0, Z4
	VPCMPUB $1, Z5, Z4, K3  // digits
	VPMOVB2M Z0, K4
	KORQ    K2, K3, K2
	KMOVQ   K2, AX
	KMOVQ   K4, BX
	VZEROUPPER
	MOVQ AX, words+16(FP)
	MOVQ BX, wide+24(FP)
	RET

#ifndef ZYFA_GEN_ASM_BUFFER_ADDRESS_H_
#define ZYFA_GEN_ASM_BUFFER_ADDRESS_H_

#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {

// Last word of a raw buffer descriptor: any data format but 0, which would mean
// an unbound buffer (CDNA4 ISA 9.1.8).
inline constexpr int kBufferFormat = 0x00020000;

// base += index * stride, all 64 bit; index and stride are unsigned. `stride`
// is one register or a pair. The form with vector registers overwrites VCC.
void EmitAddProduct(Assembler& a, SReg base, SReg index, SReg stride);
void EmitAddProduct(Assembler& a, VReg base, VReg index, SReg stride);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_BUFFER_ADDRESS_H_

#ifndef ZYFA_GEN_COMMON_ADDRESS_MATH_H_
#define ZYFA_GEN_COMMON_ADDRESS_MATH_H_

#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {

// base (64 bits) += index * stride; a stride of one register counts as
// unsigned 32 bits.
void EmitAddProduct(Assembler& a, SReg base, SReg index, SReg stride);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_COMMON_ADDRESS_MATH_H_

#ifndef ZYFA_GEN_QUANTIZE_INT8_KERNEL_H_
#define ZYFA_GEN_QUANTIZE_INT8_KERNEL_H_

#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {

// Bodies of quantize_keys_int8_dD and quantize_queries_int8_dD
// (quantize_kernel.h; docs/quantiser.md has the formulas).
void EmitKeysInt8(Assembler& a, int head_dim);
void EmitQueriesInt8(Assembler& a, int head_dim);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_QUANTIZE_INT8_KERNEL_H_

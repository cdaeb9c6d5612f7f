#ifndef ZYFA_GEN_COMMON_ATTENTION_SPEC_H_
#define ZYFA_GEN_COMMON_ATTENTION_SPEC_H_

#include "zyfa/gen/asm/kernel_spec.h"
#include "zyfa/variant/variant.h"

namespace zyfa::gen {

// Name, arguments and launch shape of a variant's kernel; two waves a SIMD.
KernelSpec AttentionSpec(const Variant& variant, int lds_bytes);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_COMMON_ATTENTION_SPEC_H_

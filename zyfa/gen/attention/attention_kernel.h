#ifndef ZYFA_GEN_ATTENTION_ATTENTION_KERNEL_H_
#define ZYFA_GEN_ATTENTION_ATTENTION_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "zyfa/variant/variant.h"

namespace zyfa::gen {

// The assembly of an attention kernel, named "zyfa_" + VariantName(variant).
// Its arguments are AttentionArgs (zyfa/variant/attention_args.h). Same
// variant, same bytes. Errors come from the assembler and name the offending
// instruction.
absl::StatusOr<std::string> GenerateAttentionKernel(const Variant& variant);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_ATTENTION_KERNEL_H_

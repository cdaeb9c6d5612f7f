#ifndef ZYFA_GEN_FP8_FP8_KERNEL_H_
#define ZYFA_GEN_FP8_FP8_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "zyfa/variant/variant.h"

namespace zyfa::gen {

// Assembly of an FP8 attention kernel. InvalidArgument for head dims that the
// kernels are not laid out for.
absl::StatusOr<std::string> GenerateFp8Kernel(const Variant& variant);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_FP8_FP8_KERNEL_H_

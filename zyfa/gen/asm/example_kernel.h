#ifndef ZYFA_GEN_ASM_EXAMPLE_KERNEL_H_
#define ZYFA_GEN_ASM_EXAMPLE_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"

namespace zyfa::gen {

// The idiom of a kernel in this language, on the smallest useful one:
// out[i] = in[i] + 1 for i < n.
absl::StatusOr<std::string> AddOneKernel();

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_EXAMPLE_KERNEL_H_

#ifndef ZYFA_QUANTIZE_KERNELS_H_
#define ZYFA_QUANTIZE_KERNELS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace zyfa {

// A kernel of the quantiser that is linked into this program.
struct QuantizeKernel {
  absl::string_view name;    // "quantize_max_d128"
  absl::string_view symbol;  // name of the kernel inside the code object
  absl::Span<const uint8_t> code_object;
};

absl::Span<const QuantizeKernel> QuantizeKernels();

// nullptr if there is none.
const QuantizeKernel* FindQuantizeKernel(absl::string_view name);

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_KERNELS_H_

#include "zyfa/quantize/kernels.h"

#include <cstddef>

#define ZYFA_QUANTIZE_KERNELS(X) \
  X(quantize_sum_d128)           \
  X(quantize_sum_d192)           \
  X(quantize_mean)               \
  X(quantize_max_d128)           \
  X(quantize_max_d192)           \
  X(quantize_scale)              \
  X(quantize_head_d128)          \
  X(quantize_head_d192)          \
  X(quantize_token_d128)         \
  X(quantize_token_d192)         \
  X(quantize_scale_int8)         \
  X(quantize_keys_int8_d128)     \
  X(quantize_keys_int8_d192)     \
  X(quantize_queries_int8_d128)  \
  X(quantize_queries_int8_d192)

// From the build rule gfx_kernel.
#define ZYFA_DECLARE(name)                           \
  extern "C" const uint8_t zyfa_co_##name##_begin[]; \
  extern "C" const uint8_t zyfa_co_##name##_end[];
ZYFA_QUANTIZE_KERNELS(ZYFA_DECLARE)
#undef ZYFA_DECLARE

namespace zyfa {

absl::Span<const QuantizeKernel> QuantizeKernels() {
#define ZYFA_ROW(name)      \
  {#name,                   \
   "zyfa_" #name,           \
   {zyfa_co_##name##_begin, \
    static_cast<size_t>(zyfa_co_##name##_end - zyfa_co_##name##_begin)}},
  static const QuantizeKernel kKernels[] = {ZYFA_QUANTIZE_KERNELS(ZYFA_ROW)};
#undef ZYFA_ROW
  return kKernels;
}

const QuantizeKernel* FindQuantizeKernel(absl::string_view name) {
  for (const QuantizeKernel& kernel : QuantizeKernels()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace zyfa

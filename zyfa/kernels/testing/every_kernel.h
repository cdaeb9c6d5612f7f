#ifndef ZYFA_KERNELS_TESTING_EVERY_KERNEL_H_
#define ZYFA_KERNELS_TESTING_EVERY_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/variant/variant.h"

namespace zyfa::testing {

// Parameters of a test that runs for all linked kernels, and their names.
inline auto EveryKernel() {
  return ::testing::ValuesIn(AllKernels().begin(), AllKernels().end());
}

inline auto KernelsOf(DataType type) {
  std::vector<KernelEntry> kernels;
  for (const KernelEntry& kernel : AllKernels()) {
    if (kernel.variant.data_type == type) kernels.push_back(kernel);
  }
  return ::testing::ValuesIn(kernels);
}
inline auto EveryFp8Kernel() { return KernelsOf(DataType::kFp8); }
inline auto EveryInt8Kernel() { return KernelsOf(DataType::kInt8); }

// Those with codes of P, FP8 and INT8.
inline auto EveryPersistentKernel() {
  std::vector<KernelEntry> kernels;
  for (const KernelEntry& kernel : AllKernels()) {
    if (IsPersistent(kernel.variant)) kernels.push_back(kernel);
  }
  return ::testing::ValuesIn(kernels);
}

inline std::string KernelTestName(
    const ::testing::TestParamInfo<KernelEntry>& kernel) {
  return std::string(kernel.param.name);
}

// Whether a sweep over a length takes that one. There are eight FP8 and eight
// INT8 kernels of one generator: each takes what is next to multiples of
// `period`, and an eighth of the rest, so that together the eight take all.
inline bool SweepTakes(const KernelEntry& kernel, int64_t length,
                       int64_t period) {
  const Variant& v = kernel.variant;
  if (!IsPersistent(v)) return true;
  const int64_t rest = (length % period + period) % period;
  if (rest <= 1 || rest == period - 1) return true;
  const int number = (v.probability == Probability::kLean ||
                              v.probability == Probability::kMultiply
                          ? 4
                          : 0) +
                     (v.mask == Mask::kCausal ? 2 : 0) +
                     (v.head_dim_qk == 128 ? 1 : 0);
  return rest % 8 == number;
}

}  // namespace zyfa::testing

#endif  // ZYFA_KERNELS_TESTING_EVERY_KERNEL_H_

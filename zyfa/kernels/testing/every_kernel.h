#ifndef ZYFA_KERNELS_TESTING_EVERY_KERNEL_H_
#define ZYFA_KERNELS_TESTING_EVERY_KERNEL_H_

#include <string>

#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"

namespace zyfa::testing {

// Parameters of a test that runs for all linked kernels, and their names.
inline auto EveryKernel() {
  return ::testing::ValuesIn(AllKernels().begin(), AllKernels().end());
}

inline std::string KernelTestName(
    const ::testing::TestParamInfo<KernelEntry>& kernel) {
  return std::string(kernel.param.name);
}

}  // namespace zyfa::testing

#endif  // ZYFA_KERNELS_TESTING_EVERY_KERNEL_H_

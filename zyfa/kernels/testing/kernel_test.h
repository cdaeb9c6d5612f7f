#ifndef ZYFA_KERNELS_TESTING_KERNEL_TEST_H_
#define ZYFA_KERNELS_TESTING_KERNEL_TEST_H_

#include <cstdint>

#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"

namespace zyfa::testing {

// A test of one of the linked kernels.
class KernelTest : public ::testing::TestWithParam<KernelEntry> {
 protected:
  AttentionCase Case(int64_t seqlen_q, int64_t seqlen_kv) const {
    AttentionCase c;
    c.variant = GetParam().variant;
    c.seqlen_q = seqlen_q;
    c.seqlen_kv = seqlen_kv;
    return c;
  }
};

}  // namespace zyfa::testing

#endif  // ZYFA_KERNELS_TESTING_KERNEL_TEST_H_

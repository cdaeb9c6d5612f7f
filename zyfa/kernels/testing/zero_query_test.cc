// Q = 0 gives the mean of V: a causal run of 32768 tokens has a row for every
// key length up to there. INT8 kernels sum weights as the FP8 ones do; a
// quarter has all that is their own.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/variant/variant.h"

namespace zyfa::testing {
namespace {

struct Kernel {
  const char* name;
  int64_t seqlen;
};

class ZeroQueryTest : public ::testing::TestWithParam<Kernel> {};

TEST_P(ZeroQueryTest, EveryLength) {
  AttentionCase c;
  c.variant = ParseVariant(GetParam().name).value();
  c.seqlen_q = c.seqlen_kv = GetParam().seqlen;
  c.fill_query = [](int64_t, int64_t, int64_t, int64_t, float) { return 0.0f; };
  // Whole numbers: their sums are exact in double.
  c.fill_value = [](int64_t, int64_t row, int64_t, int64_t channel, float) {
    return static_cast<float>((row * 7 + channel * 3) % 27 - 11);
  };
  // Strict runs of the same code are in the other tests.
  const auto got = RunCase(c, emu::RunOptions());
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_TRUE(got->report.findings.empty());
  std::vector<double> sum(c.variant.head_dim_v);
  for (int64_t row = 0; row < c.seqlen_q; ++row) {
    for (int64_t i = 0; i < c.variant.head_dim_v; ++i) {
      sum[i] += c.fill_value(0, row, 0, i, 0.0f);
      const double mean = sum[i] / (row + 1);
      const double x = got->output[row * c.variant.head_dim_v + i].ToFloat();
      // Half a unit in the last of bf16's 8 bits, and the fp32 sums behind it.
      const double half_unit =
          mean == 0 ? 0 : std::ldexp(1.0, std::ilogb(mean) - 8);
      ASSERT_NEAR(x, mean, half_unit + 1e-4)
          << "row " << row << " column " << i;
    }
    ASSERT_NEAR(got->lse[row], std::log(row + 1.0), 1e-4) << row;
  }
}

constexpr Kernel kKernels[] = {
    {"bf16_d128_causal", 32768},      {"bf16_d192x128_causal", 32768},
    {"fp8_lean_d128_causal", 32768},  {"fp8_exact_d192x128_causal", 32768},
    {"int8_shift_d128_causal", 8192}, {"int8_multiply_d192x128_causal", 8192}};

INSTANTIATE_TEST_SUITE_P(Variants, ZeroQueryTest, ::testing::ValuesIn(kKernels),
                         [](const auto& kernel) {
                           return std::string(kernel.param.name);
                         });

}  // namespace
}  // namespace zyfa::testing

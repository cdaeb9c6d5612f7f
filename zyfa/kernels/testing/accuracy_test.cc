// Error against float64, and beside the numeric model of BF16 attention.

#include <cstdio>
#include <span>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/numerics/real_like.h"

namespace zyfa::testing {
namespace {

class AccuracyTest : public ::testing::TestWithParam<KernelEntry> {};

double RelativeRmse(std::span<const double> got, std::span<const double> want,
                    int64_t row) {
  return numerics::CompareToReference(got, want, row).value().relative_rmse;
}

void ExpectAsAccurateAsTheModel(const AttentionCase& c, double bar) {
  const auto got = RunCase(c);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_TRUE(got->report.findings.empty());
  const auto want = Reference(c);
  ASSERT_TRUE(want.ok()) << want.status();
  const auto model = Model(c);
  ASSERT_TRUE(model.ok()) << model.status();
  std::vector<double> output;
  for (const numerics::Bf16 x : got->output) output.push_back(x.ToFloat());
  const int64_t row = c.variant.head_dim_v;
  const double kernel_error = RelativeRmse(output, want->output, row);
  const double model_error = RelativeRmse(model->output, want->output, row);
  std::printf("%s: kernel %.4e, model %.4e, ratio %.4f\n", c.Name().c_str(),
              kernel_error, model_error, kernel_error / model_error);
  EXPECT_LE(kernel_error, bar);
  EXPECT_LE(kernel_error, 1.05 * model_error);
}

TEST_P(AccuracyTest, GaussianAt4K) {
  AttentionCase c;
  c.variant = GetParam().variant;
  c.seqlen_q = c.seqlen_kv = 4096;
  ExpectAsAccurateAsTheModel(c, 4e-3);
}

TEST_P(AccuracyTest, RealLikeAt2K) {
  constexpr int64_t kLength = 2048;
  for (const char* set : {"M", "X", "V", "D", "E"}) {
    AttentionCase c;
    c.variant = GetParam().variant;
    c.seqlen_q = c.seqlen_kv = kLength;
    const auto head = numerics::MakeRealLikeHead(
        numerics::RealLikeSet(set).value(), kLength, c.variant.head_dim_qk,
        c.variant.head_dim_v, 100);
    ASSERT_TRUE(head.ok()) << head.status();
    const auto from = [](const std::vector<float>& data, int64_t dim) {
      return [&data, dim](int64_t, int64_t row, int64_t, int64_t channel,
                          float) { return data[row * dim + channel]; };
    };
    c.fill_query = from(head->query, c.variant.head_dim_qk);
    c.fill_key = from(head->key, c.variant.head_dim_qk);
    c.fill_value = from(head->value, c.variant.head_dim_v);
    SCOPED_TRACE(set);
    ExpectAsAccurateAsTheModel(c, 4e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, AccuracyTest, EveryKernel(), KernelTestName);

}  // namespace
}  // namespace zyfa::testing

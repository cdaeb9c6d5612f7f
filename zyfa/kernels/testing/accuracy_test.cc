// Error against float64, and beside the numeric model of BF16 attention.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::testing {
namespace {

class AccuracyTest : public ::testing::TestWithParam<KernelEntry> {};

double RelativeRmse(std::span<const double> got, std::span<const double> want,
                    int64_t row) {
  return numerics::CompareToReference(got, want, row).value().relative_rmse;
}

// Compares with the model whose running maximum is exact and with the one whose
// maximum moves by the kernel's rule.
void ExpectAsAccurateAsTheModel(const AttentionCase& c, double exact_ratio) {
  const auto got = RunCase(c);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_TRUE(got->report.findings.empty());
  const auto want = Reference(c);
  ASSERT_TRUE(want.ok()) << want.status();
  const auto exact = Model(c, 0);
  ASSERT_TRUE(exact.ok()) << exact.status();
  const auto same_rule = Model(c, kRescaleBinades);
  ASSERT_TRUE(same_rule.ok()) << same_rule.status();
  std::vector<double> output;
  for (const numerics::Bf16 x : got->output) output.push_back(x.ToFloat());
  const int64_t row = c.variant.head_dim_v;
  const double kernel_error = RelativeRmse(output, want->output, row);
  const double exact_error = RelativeRmse(exact->output, want->output, row);
  const double same_error = RelativeRmse(same_rule->output, want->output, row);
  std::printf(
      "%s: kernel %.4e; model %.4e, ratio %.4f; same rule %.4e, "
      "ratio %.4f\n",
      c.Name().c_str(), kernel_error, exact_error, kernel_error / exact_error,
      same_error, kernel_error / same_error);
  EXPECT_LE(kernel_error, 4e-3);
  EXPECT_LE(kernel_error, exact_ratio * exact_error);
  EXPECT_LE(kernel_error, 1.02 * same_error);
}

// e4m3 numbers that a tensor's largest element scales to 448.
AttentionCase::Fill Quantised(const std::vector<float>& data, int64_t dim,
                              CaseScale& descale) {
  float largest = 0;
  for (float x : data) largest = std::max(largest, std::abs(x));
  const float scale = largest / 448;
  descale.value = [scale](int64_t, int64_t) { return scale; };
  return
      [&data, dim, scale](int64_t, int64_t row, int64_t, int64_t channel,
                          float) { return data[row * dim + channel] / scale; };
}

double KernelError(const AttentionCase& c, const std::vector<double>& want) {
  const auto got = RunCase(c);
  EXPECT_TRUE(got.ok()) << got.status();
  if (!got.ok()) return HUGE_VAL;
  EXPECT_TRUE(got->report.findings.empty());
  std::vector<double> output;
  for (const numerics::Bf16 x : got->output) output.push_back(x.ToFloat());
  return RelativeRmse(output, want, c.variant.head_dim_v);
}

// FP8: what rounding P costs (error_limits.h), at most `limit`, and that lean P
// costs little more than exact P: by numerics 2, 1.186 times for Gaussian
// scores.
void ExpectFp8Accuracy(AttentionCase c, double limit, double lean_ratio) {
  const auto want = Reference(c);
  ASSERT_TRUE(want.ok()) << want.status();
  const double error = KernelError(c, want->output);
  EXPECT_LE(error, limit) << c.Name();
  if (c.variant.probability != Probability::kLean) return;
  c.variant.probability = Probability::kExact;
  const double exact = KernelError(c, want->output);
  std::printf("%s: lean %.4e, exact %.4e, ratio %.4f\n", c.Name().c_str(),
              error, exact, error / exact);
  EXPECT_LE(error, lean_ratio * exact) << c.Name();
}

// With codes of P, or of Q and K as well.
bool HasCodes(const KernelEntry& kernel) {
  return IsPersistent(kernel.variant);
}

TEST_P(AccuracyTest, Gaussian) {
  AttentionCase c;
  c.variant = GetParam().variant;
  if (HasCodes(GetParam())) {
    c.seqlen_q = 300;
    c.seqlen_kv = 2048;
    ExpectFp8Accuracy(c, 0.035, 1.25);
    return;
  }
  c.seqlen_q = c.seqlen_kv = 4096;
  ExpectAsAccurateAsTheModel(c, 1.05);
}

// Where one key has most of the weight, an exact maximum makes its probability
// 1, which bf16 holds exactly; a maximum that moves late rounds it. That is
// worth up to a sixth of the error of such rows.
TEST_P(AccuracyTest, RealLike) {
  const int64_t length = HasCodes(GetParam()) ? 1024 : 2048;
  for (const char* set : {"M", "X", "V", "D", "E"}) {
    AttentionCase c;
    c.variant = GetParam().variant;
    c.seqlen_q = c.seqlen_kv = length;
    const auto head = numerics::MakeRealLikeHead(
        numerics::RealLikeSet(set).value(), length, c.variant.head_dim_qk,
        c.variant.head_dim_v, 100);
    ASSERT_TRUE(head.ok()) << head.status();
    SCOPED_TRACE(set);
    if (HasCodes(GetParam())) {
      c.seqlen_q = c.seqlen_kv = length;
      // INT8: the case quantises them.
      c.fill_query =
          Quantised(head->query, c.variant.head_dim_qk, c.query_descale);
      c.fill_key = Quantised(head->key, c.variant.head_dim_qk, c.key_descale);
      c.fill_value =
          Quantised(head->value, c.variant.head_dim_v, c.value_descale);
      // Values with a common part have less to lose. Of E, so few keys matter
      // in so short a sequence that the ratio is a matter of their fractions
      // (fp8_accuracy has long ones).
      ExpectFp8Accuracy(c, 0.025, absl::string_view(set) == "E" ? 3.0 : 1.36);
      continue;
    }
    const auto from = [](const std::vector<float>& data, int64_t dim) {
      return [&data, dim](int64_t, int64_t row, int64_t, int64_t channel,
                          float) { return data[row * dim + channel]; };
    };
    c.fill_query = from(head->query, c.variant.head_dim_qk);
    c.fill_key = from(head->key, c.variant.head_dim_qk);
    c.fill_value = from(head->value, c.variant.head_dim_v);
    ExpectAsAccurateAsTheModel(c, 1.25);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, AccuracyTest, EveryKernel(), KernelTestName);

}  // namespace
}  // namespace zyfa::testing

#include "zyfa/bench/check_accuracy.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/bench/naive_attention.h"

namespace zyfa::bench {
namespace {

using numerics::Bf16;

constexpr double kNoLimit = 1e30;
constexpr float kScale = 0.0883883461f;

constexpr Case kCase = {.variant = {.mask = Mask::kCausal},
                        .batch = 2,
                        .heads_q = 4,
                        .heads_kv = 2,
                        .seqlen_q = 33,
                        .seqlen_kv = 40};

proto::Record Check(const std::vector<Bf16>& output, double flops) {
  proto::Record record;
  const absl::Status status =
      CheckAccuracy(kCase, *GaussianInputs(kCase, 3), output, flops, 1, record);
  EXPECT_TRUE(status.ok()) << status;
  return record;
}

TEST(CheckAccuracy, SeesOnlyTheRoundingOfARightOutput) {
  const proto::Record r =
      Check(NaiveOutput(kCase, *GaussianInputs(kCase, 3), kScale), kNoLimit);
  EXPECT_EQ(r.rows_checked(), 2 * 33 * 4);
  EXPECT_GT(r.rel_rmse(), 0x1p-11);
  EXPECT_LT(r.rel_rmse(), 0x1p-9);  // bf16 keeps 8 bits
  EXPECT_LT(r.worst_row_rel_rmse(), 0x1p-8);
  EXPECT_GT(r.cosine(), 0.99999);
}

TEST(CheckAccuracy, MeasuresAKnownError) {
  std::vector<Bf16> output =
      NaiveOutput(kCase, *GaussianInputs(kCase, 3), kScale);
  for (Bf16& x : output) x = Bf16::FromFloat(1.25f * x.ToFloat());
  const proto::Record r = Check(output, kNoLimit);
  EXPECT_NEAR(r.rel_rmse(), 0.25, 0.001);
  EXPECT_NEAR(r.worst_row_rel_rmse(), 0.25, 0.005);
  EXPECT_GT(r.max_abs_error(), 0.25);
  EXPECT_GT(r.cosine(), 0.99999);
}

TEST(CheckAccuracy, ChecksFewerRowsWithinABudget) {
  // The wrong output is wrong in the last query of the last batch entry only.
  std::vector<Bf16> output =
      NaiveOutput(kCase, *GaussianInputs(kCase, 3), kScale);
  EXPECT_LT(Check(output, 1.0).rel_rmse(), 0x1p-9);
  output.back() = Bf16::FromFloat(10.0f);
  const proto::Record r = Check(output, 1.0);
  EXPECT_EQ(r.rows_checked(), 2 * 16 * 4);
  EXPECT_GT(r.max_abs_error(), 9.0);
}

TEST(CheckAccuracy, FailsOnNan) {
  const Inputs inputs = *GaussianInputs(kCase, 3);
  std::vector<Bf16> output = NaiveOutput(kCase, inputs, kScale);
  output[5] = Bf16::FromFloat(std::numeric_limits<float>::quiet_NaN());
  proto::Record record;
  const absl::Status status =
      CheckAccuracy(kCase, inputs, output, kNoLimit, 1, record);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(std::isinf(record.rel_rmse()));
}

TEST(RowsToCheck, AreSpreadFromFirstToLast) {
  Case c = kCase;
  c.seqlen_q = c.seqlen_kv = 65536;
  EXPECT_FALSE(RowsToCheck(c, kNoLimit).has_value());
  const auto rows = RowsToCheck(c, 1e10);
  ASSERT_TRUE(rows.has_value());
  // 8 heads of 65536^2 / 2 pairs of 512 operations: 8.8e12.
  EXPECT_NEAR(static_cast<double>(rows->size()), 65536 * 1e10 / 8.8e12, 1.0);
  EXPECT_EQ(rows->front(), 0);
  EXPECT_EQ(rows->back(), 65535);
  std::vector<bool> positions_in_tile(64);
  for (size_t i = 1; i < rows->size(); ++i) {
    EXPECT_LT((*rows)[i - 1], (*rows)[i]);
    positions_in_tile[(*rows)[i] % 64] = true;
  }
  int covered = 0;
  for (bool seen : positions_in_tile) covered += seen;
  EXPECT_GT(covered, 32);
}

}  // namespace
}  // namespace zyfa::bench

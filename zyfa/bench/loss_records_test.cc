#include "zyfa/bench/loss_records.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace zyfa::bench {
namespace {

const std::vector<SegmentLoss> kExact = {
    {.kl = 0, .kl_to_bf16 = 0.5, .bits_per_byte = 1.0},
    {.kl = 0, .kl_to_bf16 = 0.5, .bits_per_byte = 2.0}};
const std::vector<SegmentLoss> kLosses = {
    {.kl = 3, .kl_to_bf16 = 4, .bits_per_byte = 1.5},
    {.kl = 5, .kl_to_bf16 = 10, .bits_per_byte = 2.25}};

// The standard error of two samples is half their distance.
TEST(LossRecordsTest, Loss) {
  proto::ModelLoss loss;
  SetLoss(kLosses, kExact, loss);
  EXPECT_EQ(loss.segments(), 2);
  EXPECT_DOUBLE_EQ(loss.kl(), 4);
  EXPECT_DOUBLE_EQ(loss.kl_standard_error(), 1);
  EXPECT_DOUBLE_EQ(loss.kl_to_bf16(), 7);
  EXPECT_DOUBLE_EQ(loss.kl_to_bf16_standard_error(), 3);
  EXPECT_DOUBLE_EQ(loss.bits_per_byte(), 1.875);
  EXPECT_DOUBLE_EQ(loss.added_bits_per_byte(), 0.375);
  EXPECT_DOUBLE_EQ(loss.added_bits_per_byte_standard_error(), 0.125);
}

TEST(LossRecordsTest, Difference) {
  proto::ModelLoss loss;
  SetDifference(kLosses, {{.kl = 2.5}, {.kl = 3.5}}, loss);
  EXPECT_EQ(loss.segments(), 2);
  EXPECT_DOUBLE_EQ(loss.kl_difference(), 1);
  EXPECT_DOUBLE_EQ(loss.kl_difference_standard_error(), 0.5);
  EXPECT_FALSE(loss.has_kl());
}

TEST(LossRecordsTest, OneSegmentHasNoErrors) {
  proto::ModelLoss loss;
  SetLoss({kLosses[0]}, {kExact[0]}, loss);
  SetDifference({kLosses[0]}, {kExact[0]}, loss);
  EXPECT_DOUBLE_EQ(loss.kl_difference(), 3);
  EXPECT_FALSE(loss.has_kl_standard_error());
  EXPECT_FALSE(loss.has_kl_to_bf16_standard_error());
  EXPECT_FALSE(loss.has_added_bits_per_byte_standard_error());
  EXPECT_FALSE(loss.has_kl_difference_standard_error());
}

}  // namespace
}  // namespace zyfa::bench

#include "zyfa/bench/estimate.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace zyfa::bench {
namespace {

TEST(EstimateTest, MeanAndStandardError) {
  // Deviations -3, -1, 1, 3: sum of squares 20, variance 20/3, of the mean 5/3.
  const Estimate estimate = MeanOf(std::vector<double>{2, 4, 6, 8});
  EXPECT_DOUBLE_EQ(estimate.mean, 5);
  ASSERT_TRUE(estimate.standard_error.has_value());
  EXPECT_DOUBLE_EQ(*estimate.standard_error, std::sqrt(5.0 / 3));
}

TEST(EstimateTest, OneSampleHasNoError) {
  const Estimate estimate = MeanOf(std::vector<double>{7});
  EXPECT_DOUBLE_EQ(estimate.mean, 7);
  EXPECT_FALSE(estimate.standard_error.has_value());
}

// Samples that differ a lot, pairs that do not: 1, 2, 3 apart.
TEST(EstimateTest, PairedDifference) {
  const Estimate estimate = PairedDifference(std::vector<double>{101, 12, -47},
                                             std::vector<double>{100, 10, -50});
  EXPECT_DOUBLE_EQ(estimate.mean, 2);
  ASSERT_TRUE(estimate.standard_error.has_value());
  EXPECT_DOUBLE_EQ(*estimate.standard_error, std::sqrt(1.0 / 3));
}

}  // namespace
}  // namespace zyfa::bench

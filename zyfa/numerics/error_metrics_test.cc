#include "zyfa/numerics/error_metrics.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::numerics {
namespace {

using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ErrorMetrics Compare(const std::vector<double>& actual,
                     const std::vector<double>& reference, int64_t row = 0) {
  const auto metrics = CompareToReference(
      actual, reference, row > 0 ? row : static_cast<int64_t>(actual.size()));
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  return *metrics;
}

TEST(ErrorMetricsTest, HandWorkedExample) {
  // Errors 1 and -2 against norms 5 and 13, dot products 4*3+3*4 and 5*5+10*12.
  const ErrorMetrics m = Compare({4, 4, 5, 10}, {3, 4, 5, 12}, 2);
  EXPECT_DOUBLE_EQ(m.relative_rmse, std::sqrt(5.0 / (25 + 169)));
  EXPECT_EQ(m.max_abs_error, 2.0);
  EXPECT_EQ(m.max_abs_index, 3);
  EXPECT_DOUBLE_EQ(m.cosine, (12.0 + 16 + 25 + 120) /
                                 std::sqrt((16.0 + 16 + 25 + 100) * 194));
  EXPECT_DOUBLE_EQ(m.worst_row_relative_rmse, 1.0 / 5);
  EXPECT_EQ(m.worst_row, 0);
  EXPECT_EQ(m.non_finite_mismatches, 0);
}

TEST(ErrorMetricsTest, EqualAndOpposite) {
  const ErrorMetrics same = Compare({1, -2, 3}, {1, -2, 3});
  EXPECT_EQ(same.relative_rmse, 0.0);
  EXPECT_EQ(same.max_abs_error, 0.0);
  EXPECT_EQ(same.max_abs_index, 0);
  EXPECT_EQ(same.cosine, 1.0);
  const ErrorMetrics opposite = Compare({-1, 2, -3}, {1, -2, 3});
  EXPECT_DOUBLE_EQ(opposite.relative_rmse, 2.0);
  EXPECT_DOUBLE_EQ(opposite.cosine, -1.0);
}

TEST(ErrorMetricsTest, ZeroReference) {
  const ErrorMetrics both = Compare({0, -0.0}, {0, 0});
  EXPECT_EQ(both.relative_rmse, 0.0);
  EXPECT_EQ(both.cosine, 1.0);
  const ErrorMetrics wrong = Compare({0, 1e-300}, {0, 0});
  EXPECT_EQ(wrong.relative_rmse, kInf);
  EXPECT_EQ(wrong.worst_row_relative_rmse, kInf);
  EXPECT_EQ(wrong.max_abs_error, 1e-300);
  EXPECT_EQ(wrong.cosine, 0.0);
  // One zero row: right, then wrong. The other row does not hide it.
  EXPECT_EQ(Compare({0, 0, 1, 1}, {0, 0, 1, 1}, 2).worst_row_relative_rmse, 0);
  const ErrorMetrics row = Compare({1, 1, 0, 1e-9}, {1, 1, 0, 0}, 2);
  EXPECT_EQ(row.worst_row_relative_rmse, kInf);
  EXPECT_EQ(row.worst_row, 1);
  EXPECT_LT(row.relative_rmse, 1e-8);
}

TEST(ErrorMetricsTest, NonFiniteNeverLooksGood) {
  const struct {
    double actual;
    double reference;
  } kPairs[] = {{kNan, 1},    {1, kNan},    {kNan, kNan},  {kInf, 1},
                {-kInf, 1},   {1, kInf},    {kInf, -kInf}, {kNan, kInf},
                {kInf, kNan}, {-kNan, kNan}};
  for (const auto& pair : kPairs) {
    const ErrorMetrics m = Compare({1, 1, 1, pair.actual, 1, 2},
                                   {1, 1, 1, pair.reference, 1, 1}, 2);
    EXPECT_EQ(m.relative_rmse, kInf);
    EXPECT_EQ(m.max_abs_error, kInf);
    EXPECT_EQ(m.max_abs_index, 3);
    EXPECT_EQ(m.cosine, -1.0);
    EXPECT_EQ(m.worst_row_relative_rmse, kInf);
    EXPECT_EQ(m.worst_row, 1);
    EXPECT_EQ(m.non_finite_mismatches, 1);
  }
}

TEST(ErrorMetricsTest, SameInfinityAgrees) {
  const ErrorMetrics m = Compare({-kInf, 2, kInf}, {-kInf, 1, kInf}, 1);
  EXPECT_EQ(m.relative_rmse, 1.0);
  EXPECT_EQ(m.max_abs_error, 1.0);
  EXPECT_EQ(m.max_abs_index, 1);
  EXPECT_EQ(m.cosine, 1.0);
  EXPECT_EQ(m.worst_row, 1);
  EXPECT_EQ(m.non_finite_mismatches, 0);
}

TEST(ErrorMetricsTest, ExtremeMagnitudes) {
  // Squares of these leave the range of double.
  EXPECT_DOUBLE_EQ(Compare({2e200}, {1e200}).relative_rmse, 1.0);
  EXPECT_DOUBLE_EQ(Compare({2e-200}, {1e-200}).relative_rmse, 1.0);
  EXPECT_DOUBLE_EQ(Compare({2e200}, {1e200}).cosine, 1.0);
}

TEST(ErrorMetricsTest, Empty) {
  const auto m =
      CompareToReference(std::vector<double>(), std::vector<double>(), 128);
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->relative_rmse, 0.0);
  EXPECT_EQ(m->max_abs_index, -1);
  EXPECT_EQ(m->worst_row, -1);
  EXPECT_EQ(m->cosine, 1.0);
}

TEST(ErrorMetricsTest, FloatAndBf16) {
  const std::vector<double> reference = {1.0, 0.1};
  const std::vector<float> f = {1.0f, 0.1f};
  const std::vector<Bf16> b = {Bf16::FromFloat(1.0f), Bf16::FromFloat(0.1f)};
  EXPECT_EQ(CompareToReference(f, reference, 2)->max_abs_error,
            std::abs(double{0.1f} - 0.1));
  // 0.1 is 1.6 * 2^-4, so in bf16 204.8 becomes 205 units of 2^-11.
  EXPECT_EQ(CompareToReference(b, reference, 2)->max_abs_error,
            std::abs(205.0 / 2048 - 0.1));
}

TEST(ErrorMetricsTest, Refusals) {
  const std::vector<double> three(3);
  const std::vector<double> four(4);
  EXPECT_THAT(CompareToReference(three, four, 1).status().message(),
              HasSubstr("actual has 3 elements; allowed: 4"));
  for (int64_t row : {0, -1, 3, 8}) {
    EXPECT_THAT(CompareToReference(four, four, row).status().message(),
                HasSubstr("row_length is " + std::to_string(row)));
  }
}

}  // namespace
}  // namespace zyfa::numerics

#include "zyfa/bench/row_errors.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace zyfa::bench {
namespace {

// 200 rows (1, 0) whose errors are 0, .001, .002 .. .199 in a mixed order.
TEST(RowErrorsTest, OverAllRowsAndOfRows) {
  std::vector<double> rows, expected;
  double squares = 0.0;
  for (int i = 0; i < 200; ++i) {
    const double error = .001 * (i * 77 % 200);
    squares += error * error;
    rows.insert(rows.end(), {1.0, error});
    expected.insert(expected.end(), {1.0, 0.0});
  }
  const RowErrors errors = CompareRows(rows, expected, 2);
  EXPECT_NEAR(errors.rel_rmse, std::sqrt(squares / 200), 1e-12);
  EXPECT_NEAR(errors.p99_row, .197, 1e-12);  // two rows have more
  EXPECT_NEAR(errors.worst_row, .199, 1e-12);
}

TEST(RowErrorsTest, LargeRowsWeighMoreInTheWhole) {
  const RowErrors errors = CompareRows({3, 1.5}, {3, 1}, 1);
  EXPECT_NEAR(errors.rel_rmse, .5 / std::sqrt(10.0), 1e-12);
  EXPECT_NEAR(errors.p99_row, .5, 1e-12);
  EXPECT_TRUE(std::isinf(CompareRows({1}, {0}, 1).worst_row));
  EXPECT_EQ(CompareRows({0}, {0}, 1).worst_row, 0.0);
}

TEST(RowErrorsTest, Bf16KeepsEightBits) {
  EXPECT_EQ(RoundedToBf16({1.0, 1 + 0x1p-7, 1 + 0x1.8p-8, -0x1.8p-130}),
            (std::vector<double>{1.0, 1 + 0x1p-7, 1 + 0x1p-7, -0x1.8p-130}));
}

}  // namespace
}  // namespace zyfa::bench

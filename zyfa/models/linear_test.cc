#include "zyfa/models/linear.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace zyfa::models {
namespace {

using numerics::Bf16;

TEST(LinearTest, IsTheMatrixProduct) {
  for (const auto& [outputs, inputs, rows] : {std::tuple{1, 1, 1},
                                              {16, 8, 4},
                                              {257, 384, 3},
                                              {48, 100, 33},
                                              {31, 7, 70}}) {
    std::vector<Bf16> weights;
    for (int i = 0; i < outputs * inputs; ++i) {
      weights.push_back(
          Bf16::FromFloat(static_cast<float>(std::sin(0.37 * i + 1))));
    }
    std::vector<float> x;
    for (int i = 0; i < rows * inputs; ++i) {
      x.push_back(static_cast<float>(std::cos(0.71 * i)));
    }
    const Linear linear(weights, outputs, inputs);
    EXPECT_EQ(linear.outputs(), outputs);
    EXPECT_EQ(linear.inputs(), inputs);
    // What is there before does not count; what lies behind stays.
    std::vector<float> y(rows * outputs + 1, 5.0f);
    linear.Apply(rows, x.data(), y.data());
    for (int r = 0; r < rows; ++r) {
      for (int o = 0; o < outputs; ++o) {
        double sum = 0;
        for (int i = 0; i < inputs; ++i) {
          sum += double{weights[o * inputs + i].ToFloat()} * x[r * inputs + i];
        }
        ASSERT_NEAR(y[r * outputs + o], sum, 1e-7 * inputs)
            << outputs << " x " << inputs << ", row " << r << ", output " << o;
      }
    }
    EXPECT_EQ(y.back(), 5.0f);
  }
}

}  // namespace
}  // namespace zyfa::models

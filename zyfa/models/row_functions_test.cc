#include "zyfa/models/row_functions.h"

#include <cmath>
#include <complex>
#include <vector>

#include "gtest/gtest.h"

namespace zyfa::models {
namespace {

std::vector<float> Numbers(int64_t count) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(
        static_cast<float>(std::sin(1.7 * i + 0.3) * (1 + i % 5)));
  }
  return numbers;
}

// Pairs as complex numbers, turned by a unit number.
TEST(RowFunctionsTest, RopeTurnsPairs) {
  for (const auto& [dim, theta] :
       {std::pair{128, 500000.0}, {64, 500000.0}, {16, 100.0}}) {
    const int half = dim / 2;
    const Rope rope(16384, dim, theta);
    for (const int position : {0, 1, 5, 1023, 16383}) {
      const std::vector<float> before = Numbers(dim);
      std::vector<float> after = before;
      rope.Rotate(position, after.data());
      for (int i = 0; i < half; ++i) {
        const long double angle =
            position * std::pow(static_cast<long double>(theta),
                                -static_cast<long double>(i) / half);
        const std::complex<long double> turned =
            std::complex<long double>(before[i], before[i + half]) *
            std::polar(1.0L, angle);
        EXPECT_NEAR(after[i], static_cast<double>(turned.real()), 1e-6);
        EXPECT_NEAR(after[i + half], static_cast<double>(turned.imag()), 1e-6);
      }
    }
  }
}

TEST(RowFunctionsTest, RmsNormDividesByTheRoot) {
  const std::vector<float> x = Numbers(384);
  std::vector<float> weights = Numbers(384);
  for (const double epsilon : {1e-5, 0.5}) {
    std::vector<float> y(384);
    RmsNorm(x.data(), weights.data(), 384, epsilon, y.data());
    long double squares = 0;
    for (const float v : x) squares += std::pow(static_cast<long double>(v), 2);
    const long double root = std::sqrt(squares / 384 + epsilon);
    for (int i = 0; i < 384; ++i) {
      EXPECT_NEAR(y[i], static_cast<double>(x[i] / root * weights[i]), 1e-6);
    }
  }
}

TEST(RowFunctionsTest, RmsNormOfSmallAndLargeRows) {
  const std::vector<float> weights(16, 1.0f);
  std::vector<float> y(16);
  const std::vector<float> zeros(16, 0.0f);
  RmsNorm(zeros.data(), weights.data(), 16, 1e-5, y.data());
  EXPECT_EQ(y, zeros);
  // The squares are beyond float32.
  const std::vector<float> large(16, 1e30f);
  RmsNorm(large.data(), weights.data(), 16, 1e-5, y.data());
  for (const float v : y) EXPECT_NEAR(v, 1.0, 1e-6);
}

TEST(RowFunctionsTest, GatedSiluIsTheFormula) {
  std::vector<float> gate = {0.0f,   1.0f,   -1.0f,   5.5f,
                             -20.0f, 100.0f, -100.0f, -1000.0f};
  const std::vector<float> z = gate;
  const std::vector<float> up = {1.0f, 2.0f, -3.0f, 0.5f,
                                 1.0f, 1.0f, 1.0f,  1.0f};
  GatedSilu(gate.data(), up.data(), static_cast<int64_t>(gate.size()));
  for (size_t i = 0; i < gate.size(); ++i) {
    const long double expected =
        up[i] * (z[i] / (1.0L + std::exp(-static_cast<long double>(z[i]))));
    EXPECT_NEAR(gate[i], static_cast<double>(expected),
                2e-7 * std::abs(static_cast<double>(expected)) + 1e-30);
  }
}

}  // namespace
}  // namespace zyfa::models

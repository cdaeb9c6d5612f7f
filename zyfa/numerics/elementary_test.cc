#include "zyfa/numerics/elementary.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace zyfa::numerics {
namespace {

TEST(ElementaryTest, Exp2IsCloseToLibm) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> any(-1022.0, 1023.9);
  std::uniform_real_distribution<double> near(-2.0, 2.0);
  for (int i = 0; i < 200000; ++i) {
    for (double x : {any(random), near(random)}) {
      const long double exact = std::exp2(static_cast<long double>(x));
      ASSERT_NEAR(static_cast<double>(Exp2(x) / exact), 1.0, 5e-16) << x;
    }
  }
  for (int n = -1074; n < 1024; ++n) EXPECT_EQ(Exp2(n), std::ldexp(1.0, n));
}

TEST(ElementaryTest, Exp2Edges) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Exp2(-kInf), 0.0);
  EXPECT_EQ(Exp2(-1e300), 0.0);
  EXPECT_EQ(Exp2(-1075.5), 0.0);
  EXPECT_EQ(Exp2(1024.0), kInf);
  EXPECT_EQ(Exp2(kInf), kInf);
  EXPECT_TRUE(std::isnan(Exp2(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_NEAR(Exp2(-1060.3) / std::exp2(-1060.3), 1.0, 1e-4);  // subnormal
}

TEST(ElementaryTest, LogIsCloseToLibm) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-1021.0, 1023.0);
  std::uniform_real_distribution<double> near(0.4, 2.5);
  for (int i = 0; i < 200000; ++i) {
    for (double x : {std::exp2(exponent(random)), near(random)}) {
      const double exact =
          static_cast<double>(std::log(static_cast<long double>(x)));
      ASSERT_NEAR(Log(x), exact, 4e-16 * std::abs(exact) + 1e-18) << x;
    }
  }
  EXPECT_EQ(Log(1.0), 0.0);
}

TEST(ElementaryTest, SinCosIsCloseToLibm) {
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> near(-2.0, 2.0);
  for (int i = 0; i < 200000; ++i) {
    const double turns = near(random);
    const SinCos got = SinCosOfTurns(turns);
    ASSERT_NEAR(got.sin, static_cast<double>(std::sin(2 * kPi * turns)), 4e-16);
    ASSERT_NEAR(got.cos, static_cast<double>(std::cos(2 * kPi * turns)), 4e-16);
    // Exact reduction: whole turns change nothing that the argument can hold.
    const double whole = 1048576.0 + i;
    const SinCos far = SinCosOfTurns(turns + whole);
    const SinCos reduced = SinCosOfTurns((turns + whole) - whole);
    ASSERT_EQ(far.sin, reduced.sin);
    ASSERT_EQ(far.cos, reduced.cos);
  }
  for (int quarter = -8; quarter <= 8; ++quarter) {
    const SinCos got = SinCosOfTurns(quarter / 4.0);
    EXPECT_EQ(got.sin, std::round(std::sin(quarter * M_PI / 2)));
    EXPECT_EQ(got.cos, std::round(std::cos(quarter * M_PI / 2)));
  }
}

// The compiler's own arithmetic is another implementation of IEEE: what it
// computes must be what the processor computes, to the bit.
constexpr int kSamples = 200;
constexpr double Sample(int i) { return 0.001 + 0.37 * i * i / kSamples; }

TEST(ElementaryTest, CompileTimeBitsEqualRunTimeBits) {
  static constexpr auto kAtCompileTime = [] {
    std::array<double, 4 * kSamples> values{};
    for (int i = 0; i < kSamples; ++i) {
      values[4 * i] = Exp2(-Sample(i));
      values[4 * i + 1] = Log(Sample(i));
      values[4 * i + 2] = SinCosOfTurns(Sample(i)).sin;
      values[4 * i + 3] = SinCosOfTurns(Sample(i)).cos;
    }
    return values;
  }();
  for (int i = 0; i < kSamples; ++i) {
    volatile double hidden = Sample(i);
    const double x = hidden;
    const double values[4] = {Exp2(-x), Log(x), SinCosOfTurns(x).sin,
                              SinCosOfTurns(x).cos};
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(std::bit_cast<uint64_t>(values[j]),
                std::bit_cast<uint64_t>(kAtCompileTime[4 * i + j]))
          << x << " function " << j;
    }
  }
}

}  // namespace
}  // namespace zyfa::numerics

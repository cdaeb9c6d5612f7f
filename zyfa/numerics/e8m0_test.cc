#include "zyfa/numerics/e8m0.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace zyfa::numerics {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

double Value(int code) { return std::ldexp(1.0, code - 127); }

// By search over all codes.
int Expected(double x, PowerRounding rounding) {
  if (std::isnan(x) || x < 0.0) return 0xFF;
  int best = rounding == PowerRounding::kUp ? 254 : 0;
  for (int code = 0; code <= 254; ++code) {
    switch (rounding) {
      case PowerRounding::kUp:
        if (Value(code) >= x) return code;
        break;
      case PowerRounding::kDown:
        if (Value(code) <= x) best = code;
        break;
      case PowerRounding::kNearest: {
        if (std::isinf(x)) return 254;
        const double now = std::abs(Value(code) - x);
        const double before = std::abs(Value(best) - x);
        if (now < before || (now == before && code % 2 == 0)) best = code;
      }
    }
  }
  return best;
}

void Check(float x) {
  for (PowerRounding rounding :
       {PowerRounding::kNearest, PowerRounding::kUp, PowerRounding::kDown}) {
    ASSERT_EQ(E8m0::FromFloat(x, rounding).code, Expected(x, rounding))
        << x << " rounding " << static_cast<int>(rounding);
  }
}

TEST(E8m0Test, AllCodes) {
  for (int code = 0; code < 255; ++code) {
    const E8m0 x{static_cast<uint8_t>(code)};
    EXPECT_EQ(x.ToFloat(), Value(code));
    for (PowerRounding rounding :
         {PowerRounding::kNearest, PowerRounding::kUp, PowerRounding::kDown}) {
      EXPECT_EQ(E8m0::FromFloat(x.ToFloat(), rounding), x);
    }
  }
  EXPECT_TRUE(std::isnan(E8m0{E8m0::kNan}.ToFloat()));
}

TEST(E8m0Test, AroundAllCodesAndTies) {
  for (int code = 0; code < 255; ++code) {
    for (double factor : {1.0, 1.5}) {
      const float x = static_cast<float>(factor * Value(code));
      Check(x);
      Check(std::nextafter(x, 0.0f));
      Check(std::nextafter(x, kInf));
    }
  }
}

TEST(E8m0Test, Edges) {
  Check(0.0f);
  Check(-0.0f);
  Check(kInf);
  Check(-kInf);
  Check(-1.0f);
  Check(std::numeric_limits<float>::quiet_NaN());
  Check(-std::numeric_limits<float>::quiet_NaN());
  Check(std::numeric_limits<float>::max());
  Check(std::numeric_limits<float>::denorm_min());
}

TEST(E8m0Test, RandomFloats) {
  std::mt19937 random(1);
  for (int i = 0; i < 50000; ++i) {
    Check(std::bit_cast<float>(static_cast<uint32_t>(random())));
  }
}

}  // namespace
}  // namespace zyfa::numerics

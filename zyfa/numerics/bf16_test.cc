#include "zyfa/numerics/bf16.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace zyfa::numerics {
namespace {

// Value of finite bits by the definition: 1 + 8 + 7 bits, bias 127.
double Value(int bits) {
  const int field = (bits >> 7) & 0xFF;
  const double mantissa = bits & 0x7F;
  const double magnitude = field == 0
                               ? std::ldexp(mantissa, 1 - 127 - 7)
                               : std::ldexp(128.0 + mantissa, field - 127 - 7);
  return (bits & 0x8000) ? -magnitude : magnitude;
}

// x to the nearest multiple of the step that bf16 has around it, in double, by
// the processor's rounding to integers.
double Round(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const int step = std::max(exponent - 8, -126 - 7);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
  if (std::abs(rounded) >= 0x1p128) {
    return std::copysign(std::numeric_limits<double>::infinity(), x);
  }
  return rounded;
}

void Check(float x) {
  const float y = Bf16::FromFloat(x).ToFloat();
  ASSERT_EQ(y, Round(x)) << x;
  ASSERT_EQ(std::signbit(y), std::signbit(x)) << x;
}

TEST(Bf16Test, DecodesAllCodes) {
  for (int bits = 0; bits < 65536; ++bits) {
    const float x = Bf16{static_cast<uint16_t>(bits)}.ToFloat();
    EXPECT_EQ(std::signbit(x), (bits & 0x8000) != 0);
    if ((bits & 0x7F80) != 0x7F80) {
      EXPECT_EQ(x, Value(bits));
    } else if ((bits & 0x7F) == 0) {
      EXPECT_TRUE(std::isinf(x));
    } else {
      EXPECT_TRUE(std::isnan(x));
    }
  }
}

TEST(Bf16Test, EncodeInvertsDecode) {
  for (int bits = 0; bits < 65536; ++bits) {
    const bool is_nan = (bits & 0x7FFF) > 0x7F80;
    const Bf16 x{static_cast<uint16_t>(bits)};
    // A NaN comes back quiet, otherwise as it was.
    EXPECT_EQ(Bf16::FromFloat(x.ToFloat()).bits, is_nan ? bits | 0x40 : bits);
  }
}

TEST(Bf16Test, AllTiesAndTheirNeighbours) {
  for (uint32_t bits = 0; bits < 0x7F80; ++bits) {
    const float value = static_cast<float>(Value(bits));
    // The last tie lies between the largest number and 2^128.
    const float tie = static_cast<float>(
        (Value(bits) + (bits == 0x7F7F ? 0x1p128 : Value(bits + 1))) / 2);
    for (float x : {value, tie}) {
      for (float sign : {1.0f, -1.0f}) {
        Check(sign * x);
        Check(sign * std::nextafter(x, 0.0f));
        Check(sign * std::nextafter(x, std::numeric_limits<float>::infinity()));
      }
    }
  }
}

TEST(Bf16Test, RandomFloats) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000000; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(x)) Check(x);
  }
}

TEST(Bf16Test, EveryNanStaysNan) {
  for (uint32_t sign : {0u, 0x80000000u}) {
    for (uint32_t payload = 1; payload < 0x800000; payload += 127) {
      const float nan = std::bit_cast<float>(sign | 0x7F800000u | payload);
      const Bf16 x = Bf16::FromFloat(nan);
      ASSERT_TRUE(std::isnan(x.ToFloat())) << payload;
      ASSERT_EQ(x.bits, (sign >> 16) | 0x7FC0u | (payload >> 16)) << payload;
    }
  }
}

static_assert(Bf16::FromFloat(1.0f).bits == 0x3F80);
static_assert(Bf16::FromFloat(3.4e38f).bits == 0x7F80);

}  // namespace
}  // namespace zyfa::numerics

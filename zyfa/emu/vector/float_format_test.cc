// Codes of every small format against the defining formula, and rounding
// against a search over all codes.

#include "zyfa/emu/vector/float_format.h"

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu::valu_baseline {
namespace {

struct Case {
  std::string name;
  FloatFormat format;
  int exponent_bits, mantissa_bits, bias;
  uint32_t infinity;  // 0: none
  uint32_t first_nan, last_nan;
  double largest;
};

std::vector<Case> Cases() {
  return {
      {"f16", kF16, 5, 10, 15, 0x7c00, 0x7c01, 0x7fff, 65504},
      {"bf16", kBf16, 8, 7, 127, 0x7f80, 0x7f81, 0x7fff, 0x1.fep127},
      {"fp8", kFp8, 4, 3, 7, 0, 0x7f, 0x7f, 448},
      {"bf8", kBf8, 5, 2, 15, 0x7c, 0x7d, 0x7f, 57344},
      {"fp6", kFp6, 2, 3, 1, 0, 1, 0, 7.5},
      {"bf6", kBf6, 3, 2, 3, 0, 1, 0, 28},
      {"fp4", kFp4, 2, 1, 1, 0, 1, 0, 6},
  };
}

double Formula(const Case& c, uint32_t magnitude) {
  const int exponent = static_cast<int>(magnitude >> c.mantissa_bits);
  const double fraction =
      std::ldexp(magnitude & ((1u << c.mantissa_bits) - 1), -c.mantissa_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - c.bias)
                       : std::ldexp(1 + fraction, exponent - c.bias);
}

TEST(FloatFormatTest, DecodesEveryCode) {
  for (const Case& c : Cases()) {
    const uint32_t sign = 1u << (c.exponent_bits + c.mantissa_bits);
    EXPECT_EQ(c.format.sign_bit(), sign) << c.name;
    EXPECT_EQ(Decode(c.format.max_finite(), c.format), c.largest) << c.name;
    for (uint32_t code = 0; code < 2 * sign; ++code) {
      const uint32_t magnitude = code & (sign - 1);
      const double value = Decode(code, c.format);
      if (c.first_nan <= magnitude && magnitude <= c.last_nan) {
        EXPECT_TRUE(std::isnan(value)) << c.name << " " << code;
        continue;
      }
      const double expected = c.infinity != 0 && magnitude == c.infinity
                                  ? INFINITY
                                  : Formula(c, magnitude);
      ASSERT_EQ(std::fabs(value), expected) << c.name << " " << code;
      ASSERT_EQ(std::signbit(value), (code & sign) != 0) << c.name << code;
    }
  }
}

TEST(FloatFormatTest, RoundTripOfEveryCode) {
  for (const Case& c : Cases()) {
    for (uint32_t code = 0; code < 2 * c.format.sign_bit(); ++code) {
      const double value = Decode(code, c.format);
      if (std::isnan(value)) continue;
      for (const Rounding rounding : {kNearestEven, kUp, kDown, kToZero}) {
        ASSERT_EQ(Encode(value, c.format, rounding, Overflow::kSaturate), code)
            << c.name;
      }
    }
  }
}

// Between two neighbouring codes: below, at and above the middle.
TEST(FloatFormatTest, RoundsBetweenNeighbours) {
  for (const Case& c : Cases()) {
    for (uint32_t code = 0; code < c.format.max_finite(); ++code) {
      const double low = Decode(code, c.format);
      const double high = Decode(code + 1, c.format);
      const double middle = (low + high) / 2;
      const uint32_t even = code % 2 == 0 ? code : code + 1;
      const uint32_t sign = c.format.sign_bit();
      const auto encode = [&](double x, Rounding rounding) {
        return Encode(x, c.format, rounding, Overflow::kIeee);
      };
      const double below = std::nextafter(middle, 0);
      const double above = std::nextafter(middle, INFINITY);
      ASSERT_EQ(encode(below, kNearestEven), code) << c.name;
      ASSERT_EQ(encode(middle, kNearestEven), even) << c.name;
      ASSERT_EQ(encode(above, kNearestEven), code + 1) << c.name;
      ASSERT_EQ(encode(-middle, kNearestEven), even | sign) << c.name;
      for (const double x : {below, middle, above}) {
        ASSERT_EQ(encode(x, kUp), code + 1) << c.name;
        ASSERT_EQ(encode(x, kDown), code) << c.name;
        ASSERT_EQ(encode(x, kToZero), code) << c.name;
        ASSERT_EQ(encode(-x, kUp), code | sign) << c.name;
        ASSERT_EQ(encode(-x, kDown), (code + 1) | sign) << c.name;
        ASSERT_EQ(encode(-x, kToZero), code | sign) << c.name;
      }
    }
  }
}

TEST(FloatFormatTest, OverflowRules) {
  // 464 is half-way between 448 and the next value E4M3 would have.
  EXPECT_EQ(Encode(464, kFp8, kNearestEven, Overflow::kNan), 0x7eu);
  EXPECT_EQ(Encode(464.01, kFp8, kNearestEven, Overflow::kNan), 0x7fu);
  EXPECT_EQ(Encode(-1e9, kFp8, kNearestEven, Overflow::kNan), 0xffu);
  EXPECT_EQ(Encode(INFINITY, kFp8, kNearestEven, Overflow::kNan), 0x7fu);
  EXPECT_EQ(Encode(INFINITY, kFp8, kNearestEven, Overflow::kClamp), 0x7eu);
  EXPECT_EQ(Encode(-1e9, kFp8, kNearestEven, Overflow::kClamp), 0xfeu);
  EXPECT_EQ(Encode(NAN, kFp8, kNearestEven, Overflow::kClamp), 0x7fu);
  EXPECT_EQ(Encode(61439, kBf8, kNearestEven, Overflow::kIeee), 0x7bu);
  EXPECT_EQ(Encode(61440, kBf8, kNearestEven, Overflow::kIeee), 0x7cu);
  EXPECT_EQ(Encode(-61440, kBf8, kNearestEven, Overflow::kClamp), 0xfbu);
  EXPECT_EQ(Encode(1e9, kFp4, kNearestEven, Overflow::kClamp), 7u);
  EXPECT_EQ(Encode(-INFINITY, kFp6, kNearestEven, Overflow::kClamp), 0x3fu);
  EXPECT_EQ(Encode(65519.9, kF16, kNearestEven, Overflow::kIeee), 0x7bffu);
  EXPECT_EQ(Encode(65520, kF16, kNearestEven, Overflow::kIeee), 0x7c00u);
  EXPECT_EQ(Encode(65520, kF16, kToZero, Overflow::kIeee), 0x7bffu);
  EXPECT_EQ(Encode(65520, kF16, kDown, Overflow::kIeee), 0x7bffu);
  EXPECT_EQ(Encode(-65520, kF16, kDown, Overflow::kIeee), 0xfc00u);
  EXPECT_EQ(Encode(65520, kF16, kNearestEven, Overflow::kSaturate), 0x7bffu);
  EXPECT_EQ(Encode(INFINITY, kF16, kNearestEven, Overflow::kSaturate), 0x7c00u);
}

// Every leading half of a float with the trailing halves next to a tie.
template <const FloatFormat& kFormat>
void ExpectEncodeNearest(Overflow overflow) {
  const uint32_t above = Encode(HUGE_VAL, kFormat, kNearestEven, overflow);
  for (uint32_t leading = 0; leading < 0x10000; ++leading) {
    for (const uint32_t trailing : {0u, 1u, 0x7fffu, 0x8000u, 0xffffu}) {
      const uint32_t bits = leading << 16 | trailing;
      ASSERT_EQ(
          EncodeNearest<kFormat>(bits, above),
          Encode(std::bit_cast<float>(bits), kFormat, kNearestEven, overflow))
          << std::hex << bits;
    }
  }
}

TEST(FloatFormatTest, EncodeNearestIsEncode) {
  ExpectEncodeNearest<kFp8>(Overflow::kNan);
  ExpectEncodeNearest<kFp8>(Overflow::kClamp);
  ExpectEncodeNearest<kBf8>(Overflow::kIeee);
  ExpectEncodeNearest<kBf8>(Overflow::kClamp);
}

TEST(FloatFormatTest, HalfToFloatOfEveryCode) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const double value = Decode(code, kF16);
    const float got = HalfToFloat(code);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(got));
    } else {
      ASSERT_EQ(got, value);
      ASSERT_EQ(std::signbit(got), std::signbit(value));
    }
  }
}

TEST(FloatFormatTest, SumRoundedToOdd) {
  // Rounding a sum to odd and then to 24 bits is rounding it once.
  testing::Random random(1);
  for (int trial = 0; trial < 200000; ++trial) {
    const double a = std::ldexp(random.Next32() * 1.0, random.Between(-80, 0));
    const double b =
        std::ldexp(random.Next64() * (trial % 2 ? 1.0 : -1.0) * 0x1p-20,
                   random.Between(-80, 0));
    const long double wide = static_cast<long double>(a) + b;
    // Only where 64 bits hold the sum exactly.
    if (wide - a != b || wide - b != a) continue;
    ASSERT_EQ(static_cast<float>(AddToOdd(a, b)), static_cast<float>(wide));
  }
  EXPECT_EQ(AddToOdd(INFINITY, 1), INFINITY);
  EXPECT_TRUE(std::isnan(AddToOdd(INFINITY, -INFINITY)));
}

TEST(FloatFormatTest, StochasticRoundingIsAddAndCut) {
  // 1.0625 lies half-way between the E4M3 values 1 and 1.125.
  EXPECT_EQ(EncodeStochastic(1.0625, kFp8, 0x7fffffff, Overflow::kNan), 0x38u);
  EXPECT_EQ(EncodeStochastic(1.0625, kFp8, 0x80000000, Overflow::kNan), 0x39u);
  EXPECT_EQ(EncodeStochastic(-1.0625, kFp8, 0x80000000, Overflow::kNan), 0xb9u);
  EXPECT_EQ(EncodeStochastic(1, kFp8, 0xffffffff, Overflow::kNan), 0x38u);
  EXPECT_EQ(EncodeStochastic(448, kFp8, 0xffffffff, Overflow::kNan), 0x7eu);
  EXPECT_EQ(EncodeStochastic(470, kFp8, 0xffffffff, Overflow::kNan), 0x7fu);
  EXPECT_EQ(EncodeStochastic(470, kFp8, 0xffffffff, Overflow::kClamp), 0x7eu);
  EXPECT_EQ(EncodeStochastic(-0.0, kFp8, 0, Overflow::kClamp), 0x80u);
}

}  // namespace
}  // namespace zyfa::emu::valu_baseline

#include "zyfa/numerics/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/numerics/e2m1.h"
#include "zyfa/numerics/e2m3.h"
#include "zyfa/numerics/e3m2.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/e5m2.h"

namespace zyfa::numerics {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// A format as the OCP specifications describe it, on its own terms.
template <typename F, int kExponentBits, int kMantissaBits, int kBiasOf,
          int kLastFinite, bool kInfinity, bool kNan>
struct Spec {
  using Format = F;
  static constexpr int kSign = 1 << (kExponentBits + kMantissaBits);
  static constexpr int kLast = kLastFinite;
  static constexpr bool kHasInfinity = kInfinity;
  static constexpr bool kHasNan = kNan;

  // Value of a non-negative code, continued beyond the last finite one.
  static double Value(int code) {
    const int field = code >> kMantissaBits;
    const double fraction =
        static_cast<double>(code & ((1 << kMantissaBits) - 1)) /
        (1 << kMantissaBits);
    return field == 0 ? std::ldexp(fraction, 1 - kBiasOf)
                      : std::ldexp(1.0 + fraction, field - kBiasOf);
  }

  // The nearest code of |x| by search, ties to the even code; kLast + 1 stands
  // for everything beyond the last finite number.
  static int Nearest(double x) {
    // Clamped, so that the distances below are exact.
    x = std::min(std::abs(x), Value(kLast + 1));
    int best = 0;
    for (int code = 1; code <= kLast + 1; ++code) {
      const double now = std::abs(Value(code) - x);
      const double before = std::abs(Value(best) - x);
      if (now < before || (now == before && code % 2 == 0)) best = code;
    }
    return best;
  }

  static Format Encode(float x, Overflow overflow) {
    if constexpr (kNan) {
      return Format::FromFloat(x, overflow);
    } else {
      return Format::FromFloat(x);
    }
  }

  static int Expected(float x, Overflow overflow) {
    const int sign = std::signbit(x) ? kSign : 0;
    const int code = std::isinf(x) ? kLast + 1 : Nearest(x);
    if (code <= kLast) return sign | code;
    const bool special = kNan && overflow == Overflow::kToSpecial;
    return sign | (special ? kLast + 1 : kLast);
  }
};

using Specs = ::testing::Types<Spec<E4m3, 4, 3, 7, 0x7E, false, true>,
                               Spec<E5m2, 5, 2, 15, 0x7B, true, true>,
                               Spec<E2m1, 2, 1, 1, 7, false, false>,
                               Spec<E2m3, 2, 3, 1, 0x1F, false, false>,
                               Spec<E3m2, 3, 2, 3, 0x1F, false, false>>;

template <typename S>
class SmallFloatTest : public ::testing::Test {
 protected:
  // Both policies, both signs.
  static void Check(float x) {
    for (float y : {x, -x}) {
      for (Overflow overflow : {Overflow::kSaturate, Overflow::kToSpecial}) {
        ASSERT_EQ(S::Encode(y, overflow).code, S::Expected(y, overflow))
            << y << " policy " << static_cast<int>(overflow);
      }
    }
  }
  static void CheckAround(float x) {
    Check(x);
    Check(std::nextafter(x, kInf));
    Check(std::nextafter(x, -kInf));
  }
};
TYPED_TEST_SUITE(SmallFloatTest, Specs);

TYPED_TEST(SmallFloatTest, DecodesAllFiniteCodes) {
  for (int code = 0; code <= TypeParam::kLast; ++code) {
    const typename TypeParam::Format plus{static_cast<uint8_t>(code)};
    const typename TypeParam::Format minus{
        static_cast<uint8_t>(code | TypeParam::kSign)};
    EXPECT_EQ(plus.ToFloat(), TypeParam::Value(code));
    EXPECT_EQ(minus.ToFloat(), -TypeParam::Value(code));
    EXPECT_FALSE(std::signbit(plus.ToFloat()));
    EXPECT_TRUE(std::signbit(minus.ToFloat()));
  }
  EXPECT_EQ(TypeParam::Format::Max().ToFloat(),
            TypeParam::Value(TypeParam::kLast));
}

TYPED_TEST(SmallFloatTest, DecodesSpecialCodes) {
  for (int code = TypeParam::kLast + 1; code < TypeParam::kSign; ++code) {
    for (int sign : {0, TypeParam::kSign}) {
      const float x =
          typename TypeParam::Format{static_cast<uint8_t>(code | sign)}
              .ToFloat();
      EXPECT_EQ(std::signbit(x), sign != 0);
      if (TypeParam::kHasInfinity && code == TypeParam::kLast + 1) {
        EXPECT_TRUE(std::isinf(x));
      } else {
        EXPECT_TRUE(std::isnan(x));
        EXPECT_NE(std::bit_cast<uint32_t>(x) & 0x00400000u, 0u) << "quiet";
      }
    }
  }
}

TYPED_TEST(SmallFloatTest, EncodeInvertsDecode) {
  for (int code = 0; code < 2 * TypeParam::kSign; ++code) {
    const typename TypeParam::Format x{static_cast<uint8_t>(code)};
    for (Overflow overflow : {Overflow::kSaturate, Overflow::kToSpecial}) {
      if (std::isinf(x.ToFloat()) && overflow == Overflow::kSaturate) continue;
      // A NaN comes back quiet, which matters to E5M2's 0x7D alone.
      const int expected =
          TypeParam::kHasInfinity && (code & 0x7F) == 0x7D ? code | 2 : code;
      EXPECT_EQ(TypeParam::Encode(x.ToFloat(), overflow).code, expected);
    }
  }
}

TYPED_TEST(SmallFloatTest, RoundsToNearestEven) {
  for (int code = 0; code <= TypeParam::kLast + 2; ++code) {
    const double value = TypeParam::Value(code);
    const double tie = (value + TypeParam::Value(code + 1)) / 2;
    ASSERT_EQ(static_cast<float>(tie), tie);
    this->CheckAround(static_cast<float>(value));
    this->CheckAround(static_cast<float>(tie));
  }
}

TYPED_TEST(SmallFloatTest, EdgesOfFloat) {
  this->Check(0.0f);
  this->Check(kInf);
  this->CheckAround(std::numeric_limits<float>::max());
  this->CheckAround(std::numeric_limits<float>::min());
  this->CheckAround(std::numeric_limits<float>::denorm_min());
  for (int exponent = -149; exponent < 128; ++exponent) {
    this->CheckAround(std::ldexp(1.0f, exponent));
  }
}

TYPED_TEST(SmallFloatTest, RandomFloats) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const float any = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(any)) this->Check(any);
    // Near the range of the format.
    const float mantissa =
        1.0f + static_cast<float>(random() % 0x800000) * 0x1p-23f;
    this->Check(std::ldexp(mantissa, static_cast<int>(random() % 40) - 20));
  }
}

TYPED_TEST(SmallFloatTest, NanKeepsItsSign) {
  for (uint32_t payload : {0x400000u, 0x000001u, 0x7FFFFFu, 0x200000u}) {
    for (uint32_t sign : {0u, 0x80000000u}) {
      const float nan = std::bit_cast<float>(sign | 0x7F800000u | payload);
      for (Overflow overflow : {Overflow::kSaturate, Overflow::kToSpecial}) {
        const float back = TypeParam::Encode(nan, overflow).ToFloat();
        EXPECT_EQ(std::signbit(back), sign != 0);
        if (TypeParam::kHasNan) {
          EXPECT_TRUE(std::isnan(back));
        } else {
          EXPECT_EQ(std::abs(back), TypeParam::Value(TypeParam::kLast));
        }
      }
    }
  }
}

TEST(SmallFloatNanTest, Payload) {
  const auto e5m2 = [](uint32_t bits) {
    return E5m2::FromFloat(std::bit_cast<float>(bits), Overflow::kSaturate)
        .code;
  };
  EXPECT_EQ(e5m2(0x7FC00000u), 0x7E);
  EXPECT_EQ(e5m2(0x7FE00000u), 0x7F);
  EXPECT_EQ(e5m2(0x7FA00000u), 0x7F);  // signalling: made quiet
  EXPECT_EQ(e5m2(0xFF800001u), 0xFE);
}

// Values that the specifications print.
static_assert(E4m3::FromFloat(448.0f, Overflow::kSaturate).code == 0x7E);
static_assert(E4m3::FromFloat(1.0f, Overflow::kSaturate).code == 56);
static_assert(E4m3::FromFloat(1e9f, Overflow::kSaturate).code == 0x7E);
static_assert(E4m3::FromFloat(-1e9f, Overflow::kToSpecial).code == 0xFF);
static_assert(E4m3::FromFloat(464.0f, Overflow::kToSpecial).code == 0x7E);
static_assert(E4m3::FromFloat(0x1p-9f, Overflow::kSaturate).code == 1);
static_assert(E5m2::FromFloat(57344.0f, Overflow::kSaturate).code == 0x7B);
static_assert(E5m2::FromFloat(61440.0f, Overflow::kToSpecial).code == 0x7C);
static_assert(E5m2::FromFloat(0x1p-16f, Overflow::kSaturate).code == 1);
static_assert(E2m1::FromFloat(100.0f).ToFloat() == 6.0f);
static_assert(E2m3::Max().ToFloat() == 7.5f);
static_assert(E3m2::Max().ToFloat() == 28.0f);
static_assert(E2m3{1}.ToFloat() == 0.125f);
static_assert(E3m2{1}.ToFloat() == 0.0625f);

}  // namespace
}  // namespace zyfa::numerics

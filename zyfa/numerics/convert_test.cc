#include "zyfa/numerics/convert.h"

#include <bit>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::numerics {
namespace {

using ::testing::HasSubstr;

// Odd, so that a vectorised loop has a remainder.
constexpr int kSize = 100003;

std::vector<float> AnyFloats() {
  std::mt19937 random(1);
  std::vector<float> values(kSize);
  for (int i = 0; i < kSize; ++i) {
    values[i] =
        i % 2 == 0
            ? std::bit_cast<float>(static_cast<uint32_t>(random()))
            : static_cast<float>(static_cast<int32_t>(random())) * 0x1p-24f;
  }
  return values;
}

// What a loop over single conversions gives.
template <typename Format, typename... Policy>
void CheckEncode(Policy... policy) {
  const std::vector<float> from = AnyFloats();
  std::vector<Format> to(from.size());
  ASSERT_TRUE(Convert(from, std::span(to), policy...).ok());
  for (size_t i = 0; i < from.size(); ++i) {
    ASSERT_EQ(to[i], Format::FromFloat(from[i], policy...)) << from[i];
  }
  std::vector<float> back(from.size());
  ASSERT_TRUE(Convert(std::span<const Format>(to), std::span(back)).ok());
  for (size_t i = 0; i < from.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(back[i]),
              std::bit_cast<uint32_t>(to[i].ToFloat()));
  }
}

TEST(ConvertTest, EqualsSingleConversions) {
  CheckEncode<Bf16>();
  for (Overflow overflow : {Overflow::kSaturate, Overflow::kToSpecial}) {
    CheckEncode<E4m3>(overflow);
    CheckEncode<E5m2>(overflow);
  }
  CheckEncode<E2m1>();
  CheckEncode<E2m3>();
  CheckEncode<E3m2>();
}

TEST(ConvertTest, RefusesDifferentSizes) {
  std::vector<float> from(3);
  std::vector<Bf16> to(2);
  EXPECT_THAT(Convert(from, std::span(to)).message(),
              HasSubstr("to has 2 elements; allowed: 3"));
  EXPECT_THAT(Convert(std::span<const Bf16>(to), std::span(from)).message(),
              HasSubstr("to has 3 elements; allowed: 2"));
}

TEST(ConvertTest, EmptyIsFine) {
  EXPECT_TRUE(Convert(std::span<const float>(), std::span<Bf16>()).ok());
}

}  // namespace
}  // namespace zyfa::numerics

#include "zyfa/variant/set_items.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace zyfa {
namespace {

constexpr uint32_t kMost = (uint32_t{1} << 31) - 1;

// What kernels do.
uint32_t Quotient(uint32_t number, uint32_t multiplier, uint32_t shift) {
  const uint64_t product = uint64_t{2 * number} * multiplier;
  return static_cast<uint32_t>(product >> 32) >> shift;
}

// Divisors at powers of two and beside them, and others at random.
std::vector<uint32_t> Divisors() {
  std::vector<uint32_t> divisors;
  for (int bit = 0; bit <= 31; ++bit) {
    for (int64_t beside = -1; beside <= 1; ++beside) {
      const int64_t d = (int64_t{1} << bit) + beside;
      if (d >= 1 && d <= kMost) divisors.push_back(static_cast<uint32_t>(d));
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    divisors.push_back(1 + ((random() & kMost) >> random() % 31) % kMost);
  }
  return divisors;
}

TEST(SetItemsTest, QuotientsAreExactBelow2To31) {
  std::mt19937 random(2);
  for (const uint32_t d : Divisors()) {
    AttentionArgs args = {};
    args.query_tiles = 1;
    SetItems(d, 1, args);
    const auto check = [&](int64_t n) {
      if (n < 0 || n > kMost) return;
      const auto number = static_cast<uint32_t>(n);
      ASSERT_EQ(Quotient(number, args.columns_multiplier, args.columns_shift),
                number / d)
          << number << " / " << d;
      ASSERT_EQ(Quotient(number, args.heads_multiplier, args.heads_shift),
                number / d)
          << number << " / " << d;
    };
    // A quotient goes wrong first at the end of a long stretch of equal ones.
    const int64_t last = kMost / d;
    const auto any = static_cast<int64_t>(random());
    for (int64_t q : {int64_t{1}, last / 2, last, any % (last + 1)}) {
      check(q * d - 1);
      check(q * d);
      check(q * d + d - 1);
    }
    check(kMost);
    check(random() & kMost);
  }
}

TEST(SetItemsTest, CountsItems) {
  AttentionArgs args = {};
  args.query_tiles = 5;
  SetItems(12, 7, args);
  EXPECT_EQ(args.heads_q, 12u);
  EXPECT_EQ(args.columns, 84u);
  EXPECT_EQ(args.items, 420u);
  EXPECT_EQ(Quotient(419, args.columns_multiplier, args.columns_shift), 4u);
  EXPECT_EQ(Quotient(83, args.heads_multiplier, args.heads_shift), 6u);
  args.query_tiles = kMost;
  SetItems(1, 1, args);
  EXPECT_EQ(args.items, kMost);
}

}  // namespace
}  // namespace zyfa

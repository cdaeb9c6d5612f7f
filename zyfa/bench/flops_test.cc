#include "zyfa/bench/flops.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {
namespace {

TEST(VisiblePairs, EqualsTheMasksDefinition) {
  for (int64_t sq = 0; sq <= 12; ++sq) {
    for (int64_t skv = 0; skv <= 12; ++skv) {
      int64_t causal = 0;
      for (int64_t i = 0; i < sq; ++i) {
        for (int64_t j = 0; j < skv; ++j) causal += j <= i + skv - sq;
      }
      EXPECT_EQ(VisiblePairs(Mask::kCausal, sq, skv), causal)
          << sq << " x " << skv;
      EXPECT_EQ(VisiblePairs(Mask::kFull, sq, skv), sq * skv);
    }
  }
}

TEST(VisiblePairs, DoesNotOverflow) {
  const int64_t n = int64_t{1} << 30;
  EXPECT_EQ(VisiblePairs(Mask::kCausal, n, n), n / 2 * (n + 1));
}

TEST(AttentionFlops, CountsQkAndPvOfVisiblePairs) {
  // 1024 x 1024, 128 + 128: the familiar 4 S^2 D.
  Variant full{.mask = Mask::kFull};
  EXPECT_EQ(AttentionFlops(full, 1, 1024, 1024), 4.0 * 1024 * 1024 * 128);
  EXPECT_EQ(AttentionFlops(full, 6, 1024, 1024), 6 * 4.0 * 1024 * 1024 * 128);
  Variant causal{.mask = Mask::kCausal};
  EXPECT_EQ(AttentionFlops(causal, 1, 1024, 1024),
            4.0 * (1024 * 1025 / 2) * 128);
  Variant mla{.head_dim_qk = 192, .mask = Mask::kFull};
  EXPECT_EQ(AttentionFlops(mla, 1, 3, 5), 2.0 * (192 + 128) * 15);
}

}  // namespace
}  // namespace zyfa::bench

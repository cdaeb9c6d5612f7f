// Every length around the tile sizes: the tail of the last key tile, of the
// last query tile, and the causal diagonal in every position.

#include <utility>

#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::testing {
namespace {

class LengthSweepTest : public ::testing::TestWithParam<KernelEntry> {
 protected:
  AttentionCase NegativeLogits(int64_t seqlen_q, int64_t seqlen_kv) const {
    AttentionCase c;
    c.variant = GetParam().variant;
    c.seqlen_q = seqlen_q;
    c.seqlen_kv = seqlen_kv;
    SetNegativeLogits(c);
    return c;
  }
};

TEST_P(LengthSweepTest, EveryKeyLengthToTwoTilesAndOne) {
  for (int64_t seqlen_kv = 0; seqlen_kv <= 2 * kKeyTile + 1; ++seqlen_kv) {
    for (int64_t seqlen_q : {int64_t{1}, int64_t{37}, seqlen_kv}) {
      EXPECT_EQ(Verify(NegativeLogits(seqlen_q, seqlen_kv)), "");
    }
    if (HasFailure()) return;
  }
}

TEST_P(LengthSweepTest, EveryQueryLengthToTwoTilesAndOne) {
  for (int64_t seqlen_q = 1; seqlen_q <= 2 * kQueryTile + 1; ++seqlen_q) {
    EXPECT_EQ(Verify(NegativeLogits(seqlen_q, 70)), "");
    if (HasFailure()) return;
  }
}

TEST_P(LengthSweepTest, EveryDiagonalOffset) {
  // More keys than queries and the reverse; rows without a key in the latter.
  for (int64_t offset = -70; offset <= 70; ++offset) {
    EXPECT_EQ(Verify(NegativeLogits(200, 200 + offset)), "");
    if (HasFailure()) return;
  }
}

TEST_P(LengthSweepTest, LongerAndUnequal) {
  for (auto [seqlen_q, seqlen_kv] : {std::pair<int64_t, int64_t>{1, 1000},
                                     {1000, 1},
                                     {300, 900},
                                     {900, 300},
                                     {513, 1025},
                                     {768, 768},
                                     {1023, 1024},
                                     {5, 0},
                                     {700, 0}}) {
    EXPECT_EQ(Verify(NegativeLogits(seqlen_q, seqlen_kv)), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, LengthSweepTest, EveryKernel(),
                         KernelTestName);

}  // namespace
}  // namespace zyfa::testing

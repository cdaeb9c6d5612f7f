// Every length around the tile sizes: the tail of the last key tile, of the
// last query tile, and the causal diagonal in every position.

#include <utility>

#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/kernels/testing/kernel_test.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::testing {
namespace {

class LengthSweepTest : public KernelTest {
 protected:
  AttentionCase NegativeLogits(int64_t seqlen_q, int64_t seqlen_kv) const {
    AttentionCase c = Case(seqlen_q, seqlen_kv);
    SetNegativeLogits(c);
    return c;
  }
};

TEST_P(LengthSweepTest, EveryKeyLengthToTwoTilesAndOne) {
  for (int64_t seqlen_kv = 0; seqlen_kv <= 2 * kKeyTile + 1; ++seqlen_kv) {
    if (!SweepTakes(GetParam(), seqlen_kv, kKeyTile / 4)) continue;
    for (int64_t seqlen_q : {int64_t{1}, int64_t{37}, seqlen_kv}) {
      EXPECT_EQ(Verify(NegativeLogits(seqlen_q, seqlen_kv)), "");
    }
    if (HasFailure()) return;
  }
}

TEST_P(LengthSweepTest, EveryQueryLengthToTwoTilesAndOne) {
  for (int64_t seqlen_q = 1; seqlen_q <= 2 * kQueryTile + 1; ++seqlen_q) {
    if (!SweepTakes(GetParam(), seqlen_q, kQueryTile / 4)) continue;
    EXPECT_EQ(Verify(NegativeLogits(seqlen_q, 70)), "");
    if (HasFailure()) return;
  }
}

TEST_P(LengthSweepTest, EveryDiagonalOffset) {
  // More keys than queries and the reverse; rows without a key in the latter.
  for (int64_t offset = -70; offset <= 70; ++offset) {
    if (!SweepTakes(GetParam(), offset, kKeyTile / 2)) continue;
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

// Persistent work-groups, which FP8 kernels have: from one item to the next the
// rings of tiles go on, whatever the lengths.
class ItemSweepTest : public LengthSweepTest {};

TEST_P(ItemSweepTest, ManyItemsAGroup) {
  for (auto [seqlen_q, seqlen_kv] : {std::pair<int64_t, int64_t>{1, 1},
                                     {20, 63},
                                     {300, 64},
                                     {270, 129},
                                     {600, 193},
                                     {257, 321},
                                     {700, 700},
                                     {600, 0}}) {
    AttentionCase c = NegativeLogits(seqlen_q, seqlen_kv);
    c.batch = 2;
    c.heads_q = 10;
    c.heads_kv = 5;
    c.compute_units = 8;
    EXPECT_EQ(Verify(c), "");
  }
}

// A wave works items out for 64 rounds at once: a group with more of them.
TEST_P(ItemSweepTest, MoreItemsAGroupThanLanes) {
  AttentionCase c = NegativeLogits(40, 70);
  c.batch = 27;
  c.heads_q = 20;
  c.heads_kv = 5;
  c.compute_units = 8;
  c.query_descale.form = CaseScale::kByBatchAndHead;
  c.query_descale.value = [](int64_t batch, int64_t head) {
    return 0.5f + static_cast<float>(batch + head) / 64;
  };
  EXPECT_EQ(Verify(c), "");
}

INSTANTIATE_TEST_SUITE_P(Variants, LengthSweepTest, EveryKernel(),
                         KernelTestName);
INSTANTIATE_TEST_SUITE_P(Variants, ItemSweepTest, EveryPersistentKernel(),
                         KernelTestName);

}  // namespace
}  // namespace zyfa::testing

#include "zyfa/emu/lds_banks.h"

#include <gtest/gtest.h>

#include <functional>

namespace zyfa::emu {
namespace {

LdsCost Cost(AccessKind kind, uint32_t bytes,
             const std::function<uint32_t(uint32_t)>& address) {
  uint32_t addresses[64];
  for (uint32_t l = 0; l < 64; ++l) addresses[l] = address(l);
  return CostOf({kind, bytes, ~uint64_t{0}, addresses, 0});
}
LdsCost Strided(AccessKind kind, uint32_t bytes, uint32_t stride) {
  return Cost(kind, bytes, [stride](uint32_t l) { return l * stride; });
}

TEST(LdsBanks, ContiguousAccessesDoNotConflict) {
  for (const uint32_t bytes : {1u, 2u, 4u, 8u, 16u}) {
    for (const AccessKind kind :
         {AccessKind::kRead, AccessKind::kWrite, AccessKind::kDmaWrite}) {
      const LdsCost cost = Strided(kind, bytes, bytes);
      EXPECT_EQ(cost.passes, cost.phases) << bytes;
    }
  }
  // Lanes 0..3 and 20..23 of packed 12-byte reads share banks; 16 bytes apart
  // they do not.
  EXPECT_EQ(Strided(AccessKind::kRead, 12, 12).passes, 16u);
  EXPECT_EQ(Strided(AccessKind::kRead, 12, 16).passes, 8u);
  // 256 bytes a phase in reads, 128 in writes.
  EXPECT_EQ(Strided(AccessKind::kRead, 4, 4).phases, 1u);
  EXPECT_EQ(Strided(AccessKind::kRead, 8, 8).phases, 2u);
  EXPECT_EQ(Strided(AccessKind::kRead, 16, 16).phases, 4u);
  EXPECT_EQ(Strided(AccessKind::kWrite, 4, 4).phases, 2u);
  EXPECT_EQ(Strided(AccessKind::kWrite, 8, 8).phases, 4u);
  EXPECT_EQ(Strided(AccessKind::kWrite, 16, 16).phases, 8u);
}

// The published experiment (cdna4-timing 4, ds_read_b128 of one wave): 8 clocks
// without conflicts, 8, 16, 32 with 2-, 4- and 8-way ones of consecutive lanes.
// Here: rows of 256 bytes, `ways` lanes of a served group on the same banks.
TEST(LdsBanks, LanesOfOneGroupOnTheSameBanks) {
  // Every lane its own row: 16 lanes of a group meet on the same 4 banks.
  EXPECT_EQ(Strided(AccessKind::kRead, 16, 256).passes, 4u * 16);
  EXPECT_EQ(Strided(AccessKind::kRead, 4, 256).passes, 64u);
  EXPECT_EQ(Strided(AccessKind::kRead, 4, 8).passes, 2u);
  EXPECT_EQ(Strided(AccessKind::kWrite, 4, 128).passes, 64u);
  EXPECT_EQ(Strided(AccessKind::kWrite, 4, 8).passes, 4u);
  EXPECT_EQ(Strided(AccessKind::kRead, 12, 128).passes, 64u);
}

// Lanes 0..3 and 4..7 are in different groups for 16 bytes, 0..3 and 12..15 in
// the same; here both fours of lanes want the same banks.
TEST(LdsBanks, GroupsOfWideReadsAreUneven) {
  const auto conflicts = [](uint32_t a, uint32_t b) {
    uint32_t addresses[64] = {};
    uint64_t lanes = 0;
    for (uint32_t l = 0; l < 4; ++l) {
      addresses[a + l] = 16 * l;
      addresses[b + l] = 1024 + 16 * l;
      lanes |= uint64_t{1} << (a + l) | uint64_t{1} << (b + l);
    }
    const LdsCost cost = CostOf({AccessKind::kRead, 16, lanes, addresses, 0});
    return cost.passes - cost.phases;
  };
  for (const uint32_t b : {12u, 20u, 24u}) EXPECT_EQ(conflicts(0, b), 1u) << b;
  for (const uint32_t b : {4u, 8u, 16u, 28u, 32u, 44u}) {
    EXPECT_EQ(conflicts(0, b), 0u) << b;
  }
}

TEST(LdsBanks, TheSameDwordIsShared) {
  EXPECT_EQ(Strided(AccessKind::kRead, 4, 0).passes, 1u);
  EXPECT_EQ(Strided(AccessKind::kRead, 16, 0).passes, 4u);
  EXPECT_EQ(Strided(AccessKind::kRead, 1, 1).passes, 1u);
}

TEST(LdsBanks, LanesThatAreOffCostNothing) {
  uint32_t addresses[64] = {};
  EXPECT_EQ(CostOf({AccessKind::kRead, 4, 0, addresses, 0}).passes, 0u);
  EXPECT_EQ(CostOf({AccessKind::kRead, 16, 1, addresses, 8}).passes, 1u);
}

}  // namespace
}  // namespace zyfa::emu

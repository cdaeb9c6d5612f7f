#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/cycles/steady_state.h"
#include "zyfa/emu/cycles/trace.h"

namespace zyfa::emu {
namespace {

// One wave that executes these steps.
GroupTrace TraceOf(const std::vector<uint32_t>& steps) {
  GroupTrace trace;
  trace.waves.emplace_back();
  for (const uint32_t step : steps) trace.waves[0].events.push_back({step, 0});
  return trace;
}

void Append(const std::vector<uint32_t>& steps, std::vector<uint32_t>& all) {
  all.insert(all.end(), steps.begin(), steps.end());
}

TEST(FindLoops, OfOneInstruction) {
  const std::vector<TracedLoop> loops = FindLoops(TraceOf({0, 1, 1, 1, 2}));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].head, 1u);
  EXPECT_EQ(loops[0].tail, 1u);
  EXPECT_EQ(loops[0].passes, 2u);
  EXPECT_EQ(loops[0].instructions_per_pass, 1u);
}

// 1 { 2 {3 4 5} x 4, 6 } x 3
TEST(FindLoops, InnerBeforeOuter) {
  std::vector<uint32_t> steps = {0};
  for (int outer = 0; outer < 3; ++outer) {
    Append({1, 2}, steps);
    for (int inner = 0; inner < 4; ++inner) Append({3, 4, 5}, steps);
    Append({6}, steps);
  }
  Append({7}, steps);
  const std::vector<TracedLoop> loops = FindLoops(TraceOf(steps));
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].head, 3u);
  EXPECT_EQ(loops[0].tail, 5u);
  EXPECT_EQ(loops[0].passes, 9u);
  EXPECT_EQ(loops[0].instructions_per_pass, 3u);
  EXPECT_EQ(loops[1].head, 1u);
  EXPECT_EQ(loops[1].tail, 6u);
  EXPECT_EQ(loops[1].passes, 2u);
  EXPECT_EQ(loops[1].instructions_per_pass, 15u);
}

// The loop 1 to 4 leaves 2 for a block at 9, which jumps back to 3 in each pass
// but the last, there to 4: no loops of their own.
TEST(FindLoops, BlocksOutOfLineAreNone) {
  std::vector<uint32_t> steps = {0};
  for (int pass = 0; pass < 5; ++pass) Append({1, 2, 9, 10, 3, 4}, steps);
  Append({1, 2, 9, 10, 4, 5}, steps);
  const std::vector<TracedLoop> loops = FindLoops(TraceOf(steps));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].head, 1u);
  EXPECT_EQ(loops[0].tail, 4u);
  EXPECT_EQ(loops[0].passes, 5u);
  EXPECT_EQ(loops[0].instructions_per_pass, 6u);
}

TEST(FindLoops, StraightCodeHasNone) {
  EXPECT_TRUE(FindLoops(TraceOf({0, 1, 2, 5, 3})).empty());
  EXPECT_TRUE(FindLoops(GroupTrace{}).empty());
}

}  // namespace
}  // namespace zyfa::emu

// Global memory: cdna4-timing 5 and 8, expected numbers from there.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/cycles/testing/timed_waves.h"

namespace zyfa::emu {
namespace {

const std::string kLoad4 = "global_load_dwordx4 v[0:3], v4, s[0:1]";
const std::string kLoad2 = "global_load_dwordx2 v[0:1], v4, s[0:1]";
const std::string kLoad1 = "global_load_dword v0, v4, s[0:1]";

// A short round trip, so that the L1 and not the loads under way is the limit.
CycleConstants NearMemory() {
  CycleConstants constants = WarmCode();
  constants.memory_round_trip = 100;
  return constants;
}

// Clocks a wave needs for one of a long row, with four waves on four SIMDs; all
// must need the same.
double SpacingOfFour(const Line& line, const CycleConstants& constants) {
  const Timeline four =
      RunWaves(std::vector<Lines>(4, Repeat(128, {line})), constants);
  double spacing = 0;
  for (size_t w = 0; w < 4; ++w) {
    const std::vector<uint64_t> at = four.Of(w);
    const double own = static_cast<double>(at[120] - at[40]) / 80;
    if (w > 0) {
      EXPECT_DOUBLE_EQ(own, spacing);
    }
    spacing = own;
  }
  return spacing;
}

// 16 clocks of the L1 for dwordx4, 16 for dwordx2, 4 for dword.
TEST(MemoryTime, ClocksOfTheL1) {
  for (const auto& [text, clocks] :
       {std::pair<std::string, double>{kLoad4, 16},
        {kLoad2, 16},
        {kLoad1, 4},
        {"buffer_load_dwordx4 v4, s[0:3], 0 offen lds", 16},
        {"global_load_lds_dwordx4 v4, s[0:1]", 16},
        {"buffer_load_dword v4, s[0:3], 0 offen lds", 4},
        {"global_store_dwordx4 v4, v[0:3], s[0:1]", 16}}) {
    // Four waves streaming dwordx4: 64 clocks a wave.
    EXPECT_DOUBLE_EQ(SpacingOfFour(text, NearMemory()), 4 * clocks) << text;
  }
}

// 64 B a clock: twice the lines, twice the time.
TEST(MemoryTime, LinesCount) {
  EXPECT_DOUBLE_EQ(SpacingOfFour({kLoad4, 16}, NearMemory()), 4 * 32);
  EXPECT_DOUBLE_EQ(SpacingOfFour({kLoad1, 64}, NearMemory()), 4 * 128);
  // Fewer lines do not make a wide load faster.
  EXPECT_DOUBLE_EQ(SpacingOfFour({kLoad4, 1}, NearMemory()), 64);
}

TEST(MemoryTime, RoundTrip) {
  const CycleConstants constants = WarmCode();
  const std::vector<uint64_t> at =
      IssuesOf({kLoad4, kLoad4, "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"});
  // About 1000 clocks; the second 16 of the L1 later.
  EXPECT_GE(at[2], 1000u);
  EXPECT_LE(at[2], 1008u);
  EXPECT_EQ(at[3] - at[2], 16u);
  CycleConstants loaded = constants;
  loaded.memory_round_trip = 1500;
  EXPECT_EQ(IssuesOf({kLoad4, "s_waitcnt vmcnt(0)"}, loaded)[1], at[2] + 500);
}

// Stores are acknowledged after 184 to 280 clocks (section 3, last row).
TEST(MemoryTime, Stores) {
  const uint64_t at =
      IssuesOf({"global_store_dword v4, v0, s[0:1]", "s_waitcnt vmcnt(0)"})[1];
  EXPECT_GE(at, 184u);
  EXPECT_LE(at, 280u);
}

// 32 loads of 1 KB behind the L1 and 12 queued before it: 44 KB have issued
// when the first data comes back. Narrow loads count by their lines.
TEST(MemoryTime, InFlight) {
  const auto issued = [](const Line& line) {
    const Timeline four =
        RunWaves(std::vector<Lines>(4, Repeat(300, {line})), WarmCode());
    size_t count = 0;
    for (const IssueEvent& event : four.issues) {
      count += event.time < 1004 ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(issued(kLoad4), 44u);
  EXPECT_EQ(issued(kLoad2), 2 * 32u - 1 + 12);  // 16 clocks each up to 1004
  EXPECT_EQ(issued(kLoad1), 4 * 32u + 12);
  // From then on the cap's 32 KB a round trip.
  EXPECT_NEAR(SpacingOfFour(kLoad4, WarmCode()), 4 * 1000.0 / 32, 8);
  CycleConstants half = WarmCode();
  half.memory_in_flight = 16;
  EXPECT_NEAR(SpacingOfFour(kLoad4, half), 4 * 1000.0 / 16, 16);
}

// The queue's places go round; a wave waits at its load.
TEST(MemoryTime, QueueStallsTheWave) {
  const Timeline one = RunWaves({Repeat(20, {kLoad4})});
  const std::vector<uint64_t> at = one.Of(0);
  for (size_t i = 1; i < 12; ++i) EXPECT_EQ(at[i] - at[i - 1], 4u);
  EXPECT_EQ(at[19] - at[18], 16u);
  ASSERT_FALSE(one.waits.empty());
  for (const WaitEvent& wait : one.waits) {
    EXPECT_EQ(wait.stall, Stall::kMemoryQueue);
  }
}

// vmcnt counts to 63.
TEST(MemoryTime, CounterAtItsTop) {
  CycleConstants constants = WarmCode();
  constants.memory_queue = 1000;
  constants.memory_in_flight = 1000;
  const std::vector<uint64_t> at = IssuesOf(Repeat(65, {kLoad1}), constants);
  EXPECT_EQ(at[62], 4u * 62);
  EXPECT_GE(at[63], 1000u);
}

// A load without any active lane sends nothing.
TEST(MemoryTime, WithoutLanes) {
  EXPECT_LE(IssuesOf({{kLoad4, 0}, "s_waitcnt vmcnt(0)"})[1], 8u);
}

}  // namespace
}  // namespace zyfa::emu

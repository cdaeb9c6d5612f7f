// Global memory: cdna4-timing 5 and 8, expected numbers from there.

#include <algorithm>
#include <cstdint>
#include <numeric>
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
  constants.memory_return = 0;
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

// The document's range for the round trip is 600 to 1500; an idle path is at
// its low end.
TEST(MemoryTime, RoundTrip) {
  const CycleConstants constants = WarmCode();
  const std::vector<uint64_t> at =
      IssuesOf({kLoad4, kLoad4, "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"});
  EXPECT_GE(at[2], 600u);
  EXPECT_LE(at[2], 640u);
  // 1 KB comes back in 1000 / 44 clocks.
  EXPECT_NEAR(static_cast<double>(at[3] - at[2]), 1000.0 / 44, 4);
  CycleConstants loaded = constants;
  loaded.memory_round_trip = 1500;
  EXPECT_NEAR(
      static_cast<double>(IssuesOf({kLoad4, "s_waitcnt vmcnt(0)"}, loaded)[1]),
      static_cast<double>(at[2] + 900), 4);
}

// Stores are acknowledged after 184 to 280 clocks (section 3, last row).
TEST(MemoryTime, Stores) {
  const uint64_t at =
      IssuesOf({"global_store_dword v4, v0, s[0:1]", "s_waitcnt vmcnt(0)"})[1];
  EXPECT_GE(at, 184u);
  EXPECT_LE(at, 280u);
}

// 32 wave loads in the L1 and 12 queued before it: 44 have issued when the
// first data comes back, if that is late; 44 come back in 1000 clocks.
TEST(MemoryTime, InFlight) {
  CycleConstants far = WarmCode();
  far.memory_round_trip = 5000;
  const auto issued = [&far] {
    const Timeline four =
        RunWaves(std::vector<Lines>(4, Repeat(100, {kLoad4})), far);
    size_t count = 0;
    for (const IssueEvent& event : four.issues) {
      count += event.time < 5000 ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(issued(), 44u);
  far.memory_in_flight = 30;
  EXPECT_EQ(issued(), 30u);
  const Timeline four =
      RunWaves(std::vector<Lines>(4, Repeat(300, {kLoad4})), WarmCode());
  for (size_t w = 0; w < 4; ++w) {
    const std::vector<uint64_t> at = four.Of(w);
    EXPECT_NEAR(static_cast<double>(at[280] - at[80]) / 200, 4 * 1000.0 / 44,
                1);
  }
}

// A line that was loaded comes from the L1 (about 100 clocks; section 5), one
// under way with the load that asked for it, one of 257 loads ago from memory.
TEST(MemoryTime, L1) {
  const TimedCode code({kLoad4, "s_waitcnt vmcnt(0)"});
  const auto waits = [&code](const std::vector<std::vector<uint32_t>>& loads,
                             bool wait_each) {
    GroupTrace trace;
    trace.waves.resize(1);
    for (const std::vector<uint32_t>& lines : loads) {
      trace.waves[0].events.push_back({0, static_cast<uint32_t>(lines.size())});
      if (wait_each) trace.waves[0].events.push_back({1, 0});
      trace.waves[0].lines.insert(trace.waves[0].lines.end(), lines.begin(),
                                  lines.end());
    }
    trace.waves[0].events.push_back({1, 0});
    ComputeUnitOptions options;
    options.constants = WarmCode();
    const std::vector<uint64_t> at = RunTraces(code, {trace}, options).Of(0);
    return at[at.size() - 1] - (wait_each ? at[at.size() - 3] : 0);
  };
  EXPECT_NEAR(static_cast<double>(waits({{7}, {7}}, true)), 120, 20);
  EXPECT_NEAR(static_cast<double>(waits({{7}, {8}}, true)), 600, 20);
  EXPECT_NEAR(static_cast<double>(waits({{7}, {7}}, false)), 600, 30);
  std::vector<uint32_t> all(256);
  std::iota(all.begin(), all.end(), 100u);
  EXPECT_GT(waits({{7}, all, {7}}, true), 580u);
  all.pop_back();
  EXPECT_LT(waits({{7}, all, {7}}, true), 400u);
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
  constants.memory_return = 0;
  const std::vector<uint64_t> at = IssuesOf(Repeat(65, {kLoad1}), constants);
  EXPECT_EQ(at[62], 4u * 62);
  EXPECT_GE(at[63], 600u);
}

// A load without any active lane sends nothing.
TEST(MemoryTime, WithoutLanes) {
  EXPECT_LE(IssuesOf({{kLoad4, 0}, "s_waitcnt vmcnt(0)"})[1], 8u);
}

}  // namespace
}  // namespace zyfa::emu

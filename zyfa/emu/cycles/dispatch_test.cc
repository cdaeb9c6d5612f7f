#include "zyfa/emu/cycles/dispatch.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/cycles/traffic_bounds.h"

namespace zyfa::emu {
namespace {

Machine Small(int xcds, int compute_units) {
  Machine machine;
  machine.xcds = xcds;
  machine.compute_units = compute_units;
  return machine;
}

TEST(DispatchTest, OneComputeUnitRunsGroupsOneAfterTheOther) {
  // 50 cold, then 40 and 40 behind gaps of 7.
  const std::vector<uint32_t> order = {0, 0, 0};
  const std::vector<GroupDuration> durations = {{50, 40}};
  const Schedule s = Dispatch(order, durations, 1, 7, Small(1, 1));
  EXPECT_EQ(s.clocks, 50 + 7 + 40 + 7 + 40);
  EXPECT_EQ(s.cold, 10);
  EXPECT_EQ(s.gaps, 14);
  EXPECT_EQ(s.tail, 0);
  EXPECT_EQ(s.unused, 0);
}

TEST(DispatchTest, TheNextGroupGoesToTheFirstFreeComputeUnit) {
  // Two units. Unit 0: 10, then at 12 the third (5) to 17, then at 19 the
  // fourth (30) to 49. Unit 1: 20, free at 22, the fifth (1) to 23.
  const std::vector<GroupDuration> durations = {
      {10, 10}, {20, 20}, {5, 5}, {30, 30}, {1, 1}};
  const Schedule s = Dispatch({0, 1, 2, 3, 4}, durations, 1, 2, Small(1, 2));
  EXPECT_EQ(s.clocks, 49);
  EXPECT_EQ(s.gaps, 6);
  EXPECT_EQ(s.tail, 49 - 23);
  EXPECT_EQ(s.longest_wait, 49 - 23);
}

TEST(DispatchTest, GroupsGoRoundTheXcdsAndStayThere) {
  // XCD 0 gets the long ones, groups 0 and 2; XCD 1 has time but no way to
  // help.
  const std::vector<GroupDuration> durations = {{100, 100}, {1, 1}};
  const Schedule s = Dispatch({0, 1, 0, 1}, durations, 1, 0, Small(2, 1));
  EXPECT_EQ(s.clocks, 200);
  EXPECT_EQ(s.tail, 198);
}

TEST(DispatchTest, ResidentGroupsSitSideBySide) {
  // Four groups of 10 on one unit that holds two: two rounds, both places cold
  // once.
  const Schedule s = Dispatch({0, 0, 0, 0}, {{12, 10}}, 2, 3, Small(1, 1));
  EXPECT_EQ(s.clocks, 12 + 3 + 10);
  EXPECT_EQ(s.places, 2);
  EXPECT_EQ(s.cold, 4);
}

TEST(DispatchTest, PlacesWithoutAGroupAreUnused) {
  const Schedule s = Dispatch({0}, {{5, 5}}, 1, 0);
  EXPECT_EQ(s.clocks, 5);
  EXPECT_EQ(s.places, 256);
  EXPECT_EQ(s.unused, 255 * 5);
  EXPECT_EQ(s.tail, 0);
}

TEST(DispatchTest, NoGroupsTakeNoTime) {
  EXPECT_EQ(Dispatch({}, {}, 1, 5).clocks, 0);
}

// All clocks of all places are somebody's, whatever the durations.
TEST(DispatchTest, ClocksAddUp) {
  std::vector<GroupDuration> durations;
  std::vector<uint32_t> order;
  double warm = 0;
  for (uint32_t i = 0; i < 5000; ++i) {
    durations.push_back({100.0 + i * 37 % 211 + 5, 100.0 + i * 37 % 211});
    order.push_back(i);
    warm += durations.back().warm;
  }
  const Schedule s = Dispatch(order, durations, 2, 9);
  EXPECT_DOUBLE_EQ(warm + s.cold + s.gaps + s.tail + s.unused,
                   s.clocks * s.places);
  // No list schedule is longer than the mean load plus the longest group.
  EXPECT_LE(s.clocks, (warm + s.cold + s.gaps) / s.places * 1.02 + 325);
}

TEST(TrafficBoundsTest, TheXcdWithMostTrafficBounds) {
  CycleConstants constants = CycleConstants::Defaults();
  constants.l2_bytes_per_clock_xcd = 100;
  // XCD 0 gets groups 0 and 8: 3000 + 3000; the others 50 or none.
  const std::vector<uint32_t> order = {0, 1, 1, 1, 1, 1, 1, 1, 0};
  const std::vector<double> bytes = {3000, 50};
  EXPECT_EQ(L2BoundClocks(order, bytes, constants), 60);
}

TEST(TrafficBoundsTest, HbmTakesEightTerabytesASecond) {
  // 8 GB at 8 TB/s: 1 ms.
  EXPECT_DOUBLE_EQ(HbmBoundNs(8e9, CycleConstants::Defaults()), 1e6);
  CycleConstants none = CycleConstants::Defaults();
  none.hbm_bytes_per_ns = none.l2_bytes_per_clock_xcd = 0;
  EXPECT_EQ(HbmBoundNs(8e9, none), 0);
  EXPECT_EQ(L2BoundClocks({0}, {1.0}, none), 0);
}

}  // namespace
}  // namespace zyfa::emu

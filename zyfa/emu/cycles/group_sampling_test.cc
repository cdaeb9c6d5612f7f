#include "zyfa/emu/cycles/group_sampling.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::emu {
namespace {

using ::testing::ElementsAre;

// Works 1 to `count` steps of one kind.
std::vector<GroupWork> Line(uint32_t kind, int64_t count) {
  std::vector<GroupWork> works;
  for (int64_t i = 1; i <= count; ++i) works.push_back({kind, {i}});
  return works;
}

GroupCost Warm(double clocks) {
  GroupCost cost;
  cost.warm = clocks;
  cost.memory_bytes = 2 * clocks;
  return cost;
}

TEST(GroupSamplingTest, TakesAllWithinTheBudget) {
  // 1 + 2 + 3 + 4 steps.
  EXPECT_THAT(ChooseSamples(Line(0, 4), {.steps = 10}),
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ChooseSamples(Line(0, 4), {.steps = 9}), ElementsAre(0, 1, 3));
}

TEST(GroupSamplingTest, SpreadsFromTheSmallestToTheLargestOfEachKind) {
  std::vector<GroupWork> works = Line(3, 11);
  works.push_back({4, {100}});
  for (const GroupWork& work : Line(5, 2)) works.push_back(work);
  EXPECT_THAT(ChooseSamples(works, {.steps = 0, .least = 3}),
              ElementsAre(0, 5, 10, 11, 12, 13));
  // 66 steps; 36 of them allow six of the eleven.
  EXPECT_THAT(ChooseSamples(Line(3, 11), {.steps = 36, .least = 3}),
              ElementsAre(0, 2, 4, 6, 8, 10));
}

TEST(GroupSamplingTest, NothingGivesNothing) {
  EXPECT_TRUE(ChooseSamples({}, {}).empty());
  EXPECT_TRUE(InterpolateCosts({}, {}, {}).empty());
}

TEST(GroupSamplingTest, InterpolatesPiecewiseInTheTotal) {
  const std::vector<GroupWork> works = Line(0, 9);
  const std::vector<size_t> samples = {0, 4, 8};
  const std::vector<GroupCost> costs = {Warm(10), Warm(50), Warm(250)};
  const std::vector<GroupCost> all = InterpolateCosts(works, samples, costs);
  const double expected[] = {10, 20, 30, 40, 50, 100, 150, 200, 250};
  ASSERT_EQ(all.size(), 9u);
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_DOUBLE_EQ(all[i].warm, expected[i]) << i;
    EXPECT_DOUBLE_EQ(all[i].memory_bytes, 2 * expected[i]) << i;
  }
}

TEST(GroupSamplingTest, EqualTotalsGoByTheFirstEntryThatDiffers) {
  const std::vector<GroupWork> works = {
      {0, {10, 30}}, {0, {15, 25}}, {0, {20, 20}}};
  const std::vector<GroupCost> costs = {Warm(100), Warm(300)};
  EXPECT_DOUBLE_EQ(InterpolateCosts(works, {0, 2}, costs)[1].warm, 200);
}

TEST(GroupSamplingTest, NeverMixesKinds) {
  std::vector<GroupWork> works = Line(0, 3);
  for (const GroupWork& work : Line(1, 3)) works.push_back(work);
  const std::vector<size_t> samples = {1, 4};
  const std::vector<GroupCost> costs = {Warm(1), Warm(1000)};
  std::vector<double> warm;
  for (const GroupCost& cost : InterpolateCosts(works, samples, costs)) {
    warm.push_back(cost.warm);
  }
  EXPECT_THAT(warm, ElementsAre(1, 1, 1, 1000, 1000, 1000));
}

}  // namespace
}  // namespace zyfa::emu

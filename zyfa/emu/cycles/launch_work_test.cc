#include "zyfa/emu/cycles/launch_work.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::emu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LaunchWorkTest, OrdersByKindThenTotalThenList) {
  const GroupWork a{0, {9, 9}}, b{1, {1, 3}}, c{1, {2, 2}}, d{1, {0, 5}};
  EXPECT_EQ(a.total(), 18);
  EXPECT_LT(a, b);
  EXPECT_LT(b, c);
  EXPECT_LT(c, d);
  EXPECT_FALSE(c < b);
  EXPECT_FALSE(b < b);
}

// Two heads of three groups; the emulated grid is the first head.
LaunchWork TwoHeads() {
  return CollectWork(
      6, [](uint64_t i) { return GroupWork{0, {7 - int64_t(i % 3)}}; },
      [](uint64_t i) { return i % 3; });
}

TEST(LaunchWorkTest, CollectsDistinctWorksAscending) {
  const LaunchWork work = TwoHeads();
  EXPECT_THAT(work.works, ElementsAre(GroupWork{0, {5}}, GroupWork{0, {6}},
                                      GroupWork{0, {7}}));
  EXPECT_THAT(work.examples, ElementsAre(2, 1, 0));
  EXPECT_THAT(work.order, ElementsAre(2, 1, 0, 2, 1, 0));
  EXPECT_TRUE(CheckWork(work, 3).ok());
}

TEST(LaunchWorkTest, RefusesWhatDoesNotFitTogether) {
  const auto refusal = [](LaunchWork work, uint64_t groups) {
    const absl::Status status = CheckWork(work, groups);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  LaunchWork work = TwoHeads();
  EXPECT_THAT(refusal(work, 2), HasSubstr("work.examples[0] is 2"));
  work.order.clear();
  EXPECT_THAT(refusal(work, 3), HasSubstr("work.order has 0"));
  work = TwoHeads();
  work.order[4] = 3;
  EXPECT_THAT(refusal(work, 3), HasSubstr("work.order[4] is 3"));
  work = TwoHeads();
  work.examples.pop_back();
  EXPECT_THAT(refusal(work, 3), HasSubstr("work.examples has 2"));
  work = TwoHeads();
  work.works[1] = work.works[0];
  EXPECT_THAT(refusal(work, 3), HasSubstr("work.works[1] is not above"));
  work = TwoHeads();
  work.works[0].steps = {-1};
  EXPECT_THAT(refusal(work, 3), HasSubstr("has -1 steps"));
}

}  // namespace
}  // namespace zyfa::emu

#include "zyfa/emu/cycles/kernel_time.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::emu {
namespace {

using ::testing::HasSubstr;

// 256 groups of the same work, one for each compute unit.
LaunchWork OneRound() {
  return CollectWork(
      256, [](uint64_t) { return GroupWork{0, {1}}; },
      [](uint64_t) { return uint64_t{0}; });
}

// 100 000 clocks, half of them with all four matrix pipes busy.
GroupCost HalfBusy() {
  GroupCost cost;
  cost.cold = 100500;
  cost.warm = 100000;
  cost.fill = 8000;
  cost.drain = 2000;
  cost.matrix = 4 * 50000;
  cost.useful = 4 * 40000;
  cost.vector = 4 * 30000;
  cost.lds_bytes = 256 * 20000;  // a fifth of the time at full rate
  cost.flips = 4.0 * 10000 * 200;
  cost.memory_bytes = 1e6;
  return cost;
}

KernelTimeOptions At(double ghz) {
  KernelTimeOptions options;
  options.clock = *FixedClock(ghz);
  return options;
}

TEST(ScheduleKernelTest, OneRoundByHand) {
  KernelTimeOptions options = At(2.0);
  options.constants.launch_overhead_us = 5;
  options.flops = 1e12;
  const auto time = ScheduleKernel(OneRound(), {HalfBusy()}, 1, options);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->clocks, 100500);
  EXPECT_EQ(time->bound, KernelBound::kGroups);
  // 50.25 us and 5 us of launch.
  EXPECT_DOUBLE_EQ(time->milliseconds, 0.05525);
  EXPECT_DOUBLE_EQ(time->activity.matrix_busy, 50000 / 100500.0);
  EXPECT_DOUBLE_EQ(time->useful_busy, 40000 / 100500.0);
  EXPECT_DOUBLE_EQ(time->useful_occupied, 40000 / 100500.0);
  EXPECT_NEAR(time->tflops, 1e12 / 55.25e-6 / 1e12, 1e-6);
  // 256 CUs x 4 SIMDs x 1024 FLOP x 2.4 GHz = 2516.6 TFLOP/s.
  EXPECT_NEAR(time->peak_share, time->tflops / 2516.58, 1e-5);
  EXPECT_EQ(time->groups, 256u);
  EXPECT_EQ(time->works, 1u);
  const double all = 100500 + 10000;
  EXPECT_DOUBLE_EQ(time->shares.launch, 10000 / all);
  EXPECT_DOUBLE_EQ(time->shares.fill, 8000 / all);
  EXPECT_DOUBLE_EQ(time->shares.drain, 2000 / all);
  EXPECT_DOUBLE_EQ(time->shares.cold, 500 / all);
  EXPECT_DOUBLE_EQ(time->shares.steady, 90000 / all);
  EXPECT_DOUBLE_EQ(time->shares.tail, 0);
}

// Neither compute units without a group nor the gap between two groups nor the
// wait for memory is a group's time.
TEST(ScheduleKernelTest, UsefulInGroupsLeavesIdleTimeOut) {
  const auto time_of = [](uint64_t groups, int resident, double hbm_bytes) {
    KernelTimeOptions options = At(2.0);
    options.hbm_bytes = hbm_bytes;
    const LaunchWork work = CollectWork(
        groups, [](uint64_t) { return GroupWork{0, {1}}; },
        [](uint64_t) { return uint64_t{0}; });
    return *ScheduleKernel(work, {HalfBusy()}, resident, options);
  };
  const KernelTime half = time_of(128, 1, 0);
  EXPECT_DOUBLE_EQ(half.useful_busy, 20000 / 100500.0);
  EXPECT_DOUBLE_EQ(half.useful_occupied, 40000 / 100500.0);
  const KernelTime two = time_of(512, 1, 0);
  EXPECT_EQ(two.clocks, 100500 + 1000 + 100000);
  EXPECT_DOUBLE_EQ(two.useful_occupied, 80000 / 200500.0);
  EXPECT_DOUBLE_EQ(time_of(256, 1, 1e10).useful_occupied, 40000 / 100500.0);
  // Two at a time share the pipes of a compute unit.
  EXPECT_DOUBLE_EQ(time_of(512, 2, 0).useful_occupied, 80000 / 100500.0);
}

TEST(ScheduleKernelTest, SharesAddUpToOne) {
  for (const uint64_t groups : {1u, 255u, 257u, 5000u}) {
    const LaunchWork work = CollectWork(
        groups, [](uint64_t i) { return GroupWork{0, {int64_t(i % 7)}}; },
        [](uint64_t) { return uint64_t{0}; });
    std::vector<GroupCost> costs;
    for (size_t i = 0; i < work.works.size(); ++i) {
      costs.push_back(Mix(HalfBusy(), HalfBusy(), 0));
      costs.back().warm += 1000.0 * static_cast<double>(i);
      costs.back().cold += 1000.0 * static_cast<double>(i);
    }
    KernelTimeOptions options = At(1.7);
    options.hbm_bytes = groups == 257 ? 1e10 : 0;
    const auto time = ScheduleKernel(work, costs, 2, options);
    ASSERT_TRUE(time.ok()) << time.status();
    const TimeShares& s = time->shares;
    EXPECT_NEAR(s.launch + s.fill + s.cold + s.steady + s.drain + s.gaps +
                    s.tail + s.bound,
                1.0, 1e-12)
        << groups;
  }
}

TEST(ScheduleKernelTest, L2BoundsWhenGroupsMoveMore) {
  KernelTimeOptions options = At(2.0);
  options.constants.l2_bytes_per_clock_xcd = 100;
  // 32 groups of an XCD, 1e6 bytes each.
  const auto time = ScheduleKernel(OneRound(), {HalfBusy()}, 1, options);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->bound, KernelBound::kL2);
  EXPECT_EQ(time->clocks, 320000);
  EXPECT_EQ(time->schedule_clocks, 100500);
  EXPECT_DOUBLE_EQ(time->activity.matrix_busy, 50000 / 320000.0);
}

TEST(ScheduleKernelTest, HbmBoundsInTimeWhateverTheClock) {
  for (const double ghz : {1.0, 2.4}) {
    KernelTimeOptions options = At(ghz);
    options.constants.launch_overhead_us = 0;
    options.hbm_bytes = 8e9;  // 1 ms at 8 TB/s
    const auto time = ScheduleKernel(OneRound(), {HalfBusy()}, 1, options);
    ASSERT_TRUE(time.ok()) << time.status();
    EXPECT_EQ(time->bound, KernelBound::kHbm);
    EXPECT_DOUBLE_EQ(time->milliseconds, 1.0);
  }
}

TEST(ScheduleKernelTest, TheClockHearsTheActivity) {
  KernelTimeOptions options;
  Activity heard;
  options.clock.name = "by ear";
  options.clock.ghz = [&heard](const Activity& activity) {
    heard = activity;
    return 1.5;
  };
  const auto time = ScheduleKernel(OneRound(), {HalfBusy()}, 1, options);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->clock_ghz, 1.5);
  EXPECT_DOUBLE_EQ(heard.matrix_busy, 50000 / 100500.0);
  EXPECT_DOUBLE_EQ(heard.vector_busy, 30000 / 100500.0);
  EXPECT_DOUBLE_EQ(heard.lds_busy, 20000 / 100500.0);
  EXPECT_DOUBLE_EQ(heard.flips_per_clock, 10000 * 200 / 100500.0);
  EXPECT_EQ(time->clock_name, "by ear");
}

TEST(ScheduleKernelTest, RefusesBadOptions) {
  const auto refusal = [](KernelTimeOptions options, int resident = 1) {
    const auto time =
        ScheduleKernel(OneRound(), {HalfBusy()}, resident, options);
    EXPECT_EQ(time.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(time.status().message());
  };
  KernelTimeOptions options = At(2);
  options.flops = -1;
  EXPECT_THAT(refusal(options), HasSubstr("flops is -1"));
  options = At(2);
  options.hbm_bytes = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(options), HasSubstr("hbm_bytes is nan"));
  options = At(2);
  options.clock.ghz = nullptr;
  EXPECT_THAT(refusal(options), HasSubstr("clock.ghz is empty"));
  options = At(2);
  options.clock.ghz = [](const Activity&) { return 0.0; };
  EXPECT_THAT(refusal(options), HasSubstr("clock gives 0 GHz"));
  EXPECT_THAT(refusal(At(2), 0), HasSubstr("resident is 0"));
  EXPECT_EQ(ScheduleKernel(OneRound(), {}, 1, At(2)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ModelKernelTimeTest, RefusesNoCode) {
  EXPECT_EQ(ModelKernelTime({}, OneRound(), At(2)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(KernelClockTest, FixedClockHasARange) {
  EXPECT_EQ(FixedClock(1.7)->ghz({.matrix_busy = 0.9}), 1.7);
  for (const double ghz : {0.0, -1.0, 2.5, std::nan("")}) {
    EXPECT_EQ(FixedClock(ghz).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

// cdna4-timing 6: 85 -> 95 % busy gains about 3.4 % throughput by the fit.
TEST(KernelClockTest, Bf16FitAtItsOwnPoints) {
  const KernelClock clock = Bf16AttentionClock();
  const auto at = [&clock](double busy) {
    return clock.ghz({.matrix_busy = busy});
  };
  EXPECT_NEAR(at(0.85), 1.658, 1e-3);
  EXPECT_NEAR(95 * at(0.95) / (85 * at(0.85)), 1.034, 0.002);
  EXPECT_EQ(at(0.0), 2.4);
}

// cdna4-timing 6: constant operands, a matrix pipe without a pause: 2.34 GHz.
TEST(KernelClockTest, TogglingSeesConstantOperandsAndRandomOnes) {
  const KernelClock clock = TogglingClock();
  EXPECT_TRUE(clock.wants_flips);
  EXPECT_NEAR(clock.ghz({.matrix_busy = 1}), 2.34, 0.05);
  EXPECT_LT(clock.ghz({.matrix_busy = 1, .flips_per_clock = 256}), 2.07);
}

TEST(KernelClockTest, IsParsed) {
  const Activity busy = {.matrix_busy = 0.8};
  for (const char* name : {"line", "toggling", "1.7"}) {
    const auto clock = ParseKernelClock(name);
    ASSERT_TRUE(clock.ok()) << clock.status();
    EXPECT_EQ(clock->name, name);
  }
  EXPECT_EQ(ParseKernelClock("1.7")->ghz(busy), 1.7);
  EXPECT_EQ(ParseKernelClock("line")->ghz(busy),
            Bf16AttentionClock().ghz(busy));
  EXPECT_EQ(ParseKernelClock("toggling")->ghz(busy), TogglingClock().ghz(busy));
  for (const char* bad : {"", "fast", "1.7 GHz", "Line"}) {
    const auto status = ParseKernelClock(bad).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(),
                HasSubstr(std::string("clock is '") + bad + "'"));
  }
  for (const char* bad : {"0", "-1", "3", "nan", "inf"}) {
    EXPECT_THAT(ParseKernelClock(bad).status().message(),
                HasSubstr("allowed: 0.1 to 2.4"));
  }
}

}  // namespace
}  // namespace zyfa::emu

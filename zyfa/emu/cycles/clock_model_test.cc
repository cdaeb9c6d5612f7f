#include "zyfa/emu/cycles/clock_model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace zyfa::emu {
namespace {

constexpr ClockConstants kPlain = {.peak_ghz = 2.4,
                                   .reference_ghz = 2.0,
                                   .exponent = 2,
                                   .idle = 0.5,
                                   .matrix = 0.5,
                                   .flips = 1,
                                   .vector = 1,
                                   .lds = 1};

// Power is 1 at 2 GHz; four times the power halves the clock if power goes with
// its square.
TEST(ClockModel, ClockFollowsPower) {
  EXPECT_DOUBLE_EQ(ModelledClockGhz({.matrix_busy = 1}, kPlain), 2.0);
  EXPECT_DOUBLE_EQ(ModelledClockGhz({.matrix_busy = 1,
                                     .vector_busy = 1,
                                     .flips_per_clock = 256,
                                     .lds_busy = 1},
                                    kPlain),
                   1.0);
  // Each of the three by itself doubles it.
  const double root = 2 / std::sqrt(2.0);
  EXPECT_DOUBLE_EQ(
      ModelledClockGhz({.matrix_busy = 1, .vector_busy = 1}, kPlain), root);
  EXPECT_DOUBLE_EQ(
      ModelledClockGhz({.matrix_busy = 1, .flips_per_clock = 256}, kPlain),
      root);
  EXPECT_DOUBLE_EQ(ModelledClockGhz({.matrix_busy = 1, .lds_busy = 1}, kPlain),
                   root);
}

TEST(ClockModel, NeverAboveThePeak) {
  EXPECT_DOUBLE_EQ(ModelledClockGhz({}, kPlain), 2.4);
  ClockConstants none = kPlain;
  none.idle = 0;
  EXPECT_DOUBLE_EQ(ModelledClockGhz({}, none), 2.4);
}

// What the published points say in words (cdna4-timing 6).
TEST(ClockModel, DefaultsKeepToWhatIsPublished) {
  const ClockConstants c = ClockConstants::Defaults();
  EXPECT_NEAR(ModelledClockGhz({.matrix_busy = 1}, c), 2.34, 0.05);
  // FP8 attention: 1.6 to 1.9 GHz from the lean to the vector-bound kernel.
  EXPECT_NEAR(ModelledClockGhz({.matrix_busy = 0.92,
                                .vector_busy = 0.463,
                                .flips_per_clock = 206,
                                .lds_busy = 0.433},
                               c),
              1.6, 0.1);
  EXPECT_NEAR(ModelledClockGhz({.matrix_busy = 0.572,
                                .vector_busy = 0.843,
                                .flips_per_clock = 120,
                                .lds_busy = 0.286},
                               c),
              1.9, 0.1);
  // BF16 attention: 2714 - 12.42 x matrix busy in percent, from 68 to 95 %.
  for (const double busy : {0.68, 0.75, 0.85, 0.95}) {
    EXPECT_NEAR(ModelledClockGhz({.matrix_busy = busy,
                                  .vector_busy = 0.68 * busy,
                                  .flips_per_clock = 175 * busy,
                                  .lds_busy = 0.5 * busy},
                                 c),
                2.714 - 1.242 * busy, 0.05)
        << busy;
  }
}

}  // namespace
}  // namespace zyfa::emu

#include "zyfa/emu/cycles/region_account.h"

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/cycles/phases_replay.h"

namespace zyfa::emu {
namespace {

constexpr uint32_t kPasses = 10;
// Of v_mfma_f32_32x32x16_bf16 and v_exp_f32 (cdna4-timing 1.1, 2.1).
constexpr uint64_t kMatrixClocks = 32, kExpClocks = 8;

CodeRegion Whole(const PhasesReplay& replay) {
  return {"whole", 0,
          static_cast<uint32_t>(replay.recorder().instructions().size())};
}

std::vector<CodeRegion> With(CodeRegion first,
                             const std::vector<CodeRegion>& others) {
  std::vector<CodeRegion> all = {std::move(first)};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

TEST(RegionAccount, LoopOfOneWave) {
  const PhasesReplay replay("unnamed", 64, kPasses);
  ASSERT_EQ(replay.loops().size(), 1u);
  RegionAccount account(
      replay.recorder().instructions(), replay.recorder().auxiliary(),
      {RegionOf(replay.loops()[0], replay.recorder().instructions())});
  replay.Run(&account);
  account.Finish();
  EXPECT_EQ(account.wave_count(), 1u);
  const RegionUse& loop = account.use()[0];
  EXPECT_EQ(loop.passes, kPasses);
  EXPECT_EQ(loop.instructions, kPasses * (8 + 12 + 3));
  EXPECT_EQ(loop.own.matrix, kPasses * 8 * kMatrixClocks);
  EXPECT_EQ(loop.own.useful, loop.own.matrix);
  EXPECT_EQ(loop.own.vector, kPasses * 12 * kExpClocks);
  // No other wave keeps the pipes, and they are done when the loop is.
  EXPECT_EQ(loop.pipes.matrix, loop.own.matrix);
  EXPECT_EQ(loop.pipes.useful, loop.own.useful);
  EXPECT_EQ(loop.pipes.vector, loop.own.vector);
}

TEST(RegionAccount, PhasesOfEightWaves) {
  const PhasesReplay replay("phased", 512, kPasses);
  RegionAccount account(replay.recorder().instructions(),
                        replay.recorder().auxiliary(),
                        With(Whole(replay), replay.phases()));
  const ComputeUnitReport report = replay.Run(&account);
  account.Finish();
  EXPECT_EQ(account.wave_count(), 8u);
  const RegionUse& whole = account.use()[0];
  const RegionUse& multiply = account.use()[2];
  const RegionUse& row_sums = account.use()[3];
  const RegionUse& soften = account.use()[4];
  EXPECT_EQ(whole.passes, 8u);
  EXPECT_EQ(multiply.passes, 8 * kPasses);
  EXPECT_EQ(multiply.own.matrix, 8 * kPasses * 8 * kMatrixClocks);
  EXPECT_EQ(multiply.own.useful, multiply.own.matrix);
  EXPECT_EQ(multiply.own.vector, 0u);
  EXPECT_EQ(row_sums.own.matrix, 8 * kPasses * kMatrixClocks);
  EXPECT_EQ(row_sums.own.useful, 0u);
  EXPECT_EQ(soften.own.vector, 8 * kPasses * 12 * kExpClocks);
  EXPECT_EQ(soften.own.matrix, 0u);
  EXPECT_EQ(soften.instructions, 8 * kPasses * 13);

  // Phases share out all clocks.
  RegionUse sum;
  for (size_t r = 1; r < account.use().size(); ++r) {
    const RegionUse& use = account.use()[r];
    sum.clocks += use.clocks;
    sum.instructions += use.instructions;
    sum.pipes.matrix += use.pipes.matrix;
    sum.pipes.vector += use.pipes.vector;
    EXPECT_LE(use.pipes.matrix, use.clocks) << account.regions()[r].name;
    EXPECT_LE(use.pipes.useful, use.pipes.matrix) << account.regions()[r].name;
    EXPECT_LE(use.pipes.vector, use.clocks) << account.regions()[r].name;
  }
  EXPECT_EQ(sum.clocks, whole.clocks);
  EXPECT_EQ(sum.instructions, report.instructions);
  EXPECT_EQ(sum.pipes.matrix, whole.pipes.matrix);
  EXPECT_EQ(sum.pipes.vector, whole.pipes.vector);

  // The compute unit's own figures.
  PipeClocks pipes;
  for (const PipeClocks& simd : report.pipes) {
    pipes.matrix += simd.matrix;
    pipes.useful += simd.useful;
    pipes.vector += simd.vector;
  }
  EXPECT_EQ(whole.own.matrix, pipes.matrix);
  EXPECT_EQ(whole.own.useful, pipes.useful);
  EXPECT_EQ(whole.own.vector, pipes.vector);
}

TEST(RegionAccount, ReasonsAddUpToTheClocksOfAWave) {
  const PhasesReplay replay("phased", 512, kPasses);
  RegionAccount account(replay.recorder().instructions(),
                        replay.recorder().auxiliary(), {Whole(replay)});
  const ComputeUnitReport report = replay.Run(&account);
  account.Finish();
  ASSERT_EQ(account.waves().size(), 8u);
  uint64_t clocks = 0;
  std::array<uint64_t, kStalls> stall = {};
  for (const WaveUse& wave : account.waves()) {
    EXPECT_EQ(wave.issued,
              replay.recorder().groups().at(0).waves[0].events.size());
    EXPECT_EQ(wave.clocks, std::accumulate(wave.stall.begin(), wave.stall.end(),
                                           4 * wave.issued));
    clocks += wave.clocks;
    for (size_t i = 0; i < kStalls; ++i) stall[i] += wave.stall[i];
  }
  EXPECT_EQ(account.use()[0].clocks, clocks);
  std::array<uint64_t, kStalls> expected = {};
  for (const StepClocks& step : report.steps) {
    for (size_t i = 0; i < kStalls; ++i) expected[i] += step.stall[i];
  }
  EXPECT_EQ(stall, expected);
  EXPECT_GT(stall[static_cast<size_t>(Stall::kBarrier)], 0u);
}

// Waves of a region: as many clocks as the region itself has.
TEST(RegionAccount, WavesInARegion) {
  const PhasesReplay replay("phased", 512, kPasses);
  RegionAccount account(replay.recorder().instructions(),
                        replay.recorder().auxiliary(), replay.phases());
  replay.Run(&account);
  account.Finish();
  for (size_t r = 0; r < account.regions().size(); ++r) {
    uint64_t clocks = 0;
    for (const WaveUse& wave : account.WavesIn(account.regions()[r])) {
      clocks += wave.clocks;
    }
    EXPECT_EQ(clocks, account.use()[r].clocks) << account.regions()[r].name;
  }
}

}  // namespace
}  // namespace zyfa::emu

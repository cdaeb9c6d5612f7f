#include "zyfa/emu/cycles/steady_state.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/cycles/testing/timed_waves.h"

namespace zyfa::emu {
namespace {

WaveTrace Steps(const std::vector<uint32_t>& steps) {
  WaveTrace trace;
  for (const uint32_t step : steps) trace.events.push_back({step, 0});
  return trace;
}

// Outer loop from 1 to 6, three passes; in it an inner one from 2 to 4, four
// passes; behind, a self-loop at 8.
TEST(FindLoops, NestedOnes) {
  std::vector<uint32_t> steps = {0};
  for (int outer = 0; outer < 3; ++outer) {
    steps.push_back(1);
    for (int inner = 0; inner < 4; ++inner) {
      steps.insert(steps.end(), {2, 3, 4});
    }
    steps.insert(steps.end(), {5, 6});
  }
  steps.insert(steps.end(), {7, 8, 8, 9});
  GroupTrace trace;
  trace.waves = {{}, Steps({0, 1, 2, 3, 4, 2, 3, 4, 9}), Steps(steps)};
  const std::vector<TracedLoop> loops = FindLoops(trace);
  ASSERT_EQ(loops.size(), 3u);
  // 9 jumps back of 3 instructions, before 2 of 15.
  EXPECT_EQ(loops[0].head, 2u);
  EXPECT_EQ(loops[0].tail, 4u);
  EXPECT_EQ(loops[0].passes, 9u);
  EXPECT_EQ(loops[0].instructions_per_pass, 3u);
  EXPECT_EQ(loops[1].head, 1u);
  EXPECT_EQ(loops[1].tail, 6u);
  EXPECT_EQ(loops[1].passes, 2u);
  EXPECT_EQ(loops[1].instructions_per_pass, 15u);
  EXPECT_EQ(loops[2].head, 8u);
  EXPECT_EQ(loops[2].tail, 8u);
  EXPECT_EQ(loops[2].passes, 1u);
}

TEST(FindLoops, ALongLoopBeforeAShortOne) {
  std::vector<uint32_t> steps;
  for (int i = 0; i < 10; ++i) steps.insert(steps.end(), {0, 1});
  for (int i = 0; i < 9; ++i) {
    for (uint32_t s = 2; s < 40; ++s) steps.push_back(s);
  }
  GroupTrace trace;
  trace.waves = {Steps(steps)};
  const std::vector<TracedLoop> loops = FindLoops(trace);
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].head, 2u);
  EXPECT_EQ(loops[0].passes, 8u);
  EXPECT_EQ(loops[1].head, 0u);
}

TEST(FindLoops, OfStraightCode) {
  GroupTrace trace;
  trace.waves = {Steps({0, 1, 2, 5, 9})};
  EXPECT_TRUE(FindLoops(trace).empty());
}

// A loop of one matrix instruction of 32 clocks, ordinary vector instructions,
// states of s_nop and a taken branch of 8.
struct LoopRun {
  SteadyState state;
  ComputeUnitReport report;
};
LoopRun RunLoop(const std::vector<Lines>& bodies, size_t passes,
                const std::vector<bool>& auxiliary = {}) {
  const TimedCode code(Join(bodies));
  GroupTrace trace;
  ComputeUnitOptions options;
  options.constants = WarmCode();
  options.auxiliary = auxiliary;
  size_t first = 0;
  for (const Lines& body : bodies) {
    WaveTrace events;
    for (size_t pass = 0; pass < passes; ++pass) {
      const auto one = code.Events(first, first + body.size());
      events.events.insert(events.events.end(), one.events.begin(),
                           one.events.end());
    }
    if (!body.empty()) {
      options.marked_steps.push_back(static_cast<uint32_t>(first));
    }
    trace.waves.push_back(events);
    first += body.size();
  }
  LoopRun run;
  run.report = RunTraces(code, {trace}, options).report;
  run.state = SteadyStateOf(run.report, 0, 0);
  return run;
}

const std::string kMatrix =
    "v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[16:19], v[32:47]";
const std::string kAdd = "v_add_f32 v200, v201, v202";

// Matrix at 0, s_nop from 4 to 44, two adds at 44 and 48, branch at 52 to 60.
TEST(SteadyState, OfALoopByHand) {
  const Lines body = {kMatrix, "s_nop 9", kAdd, kAdd, "s_cbranch_scc1 65530"};
  const SteadyState state = RunLoop({body}, 40).state;
  EXPECT_DOUBLE_EQ(state.clocks_per_pass, 60);
  EXPECT_DOUBLE_EQ(state.matrix_busy, 32.0 / 60);
  EXPECT_DOUBLE_EQ(state.useful_busy, 32.0 / 60);
  EXPECT_DOUBLE_EQ(state.vector_busy, 8.0 / 60);
  // The middle half of the 39 whole passes.
  EXPECT_GE(state.passes, 19u);
  EXPECT_LE(state.passes, 21u);
}

// Matrix at 0, adds at 8, 12, 16, branch at 20 to 28: the pipe is the limit.
TEST(SteadyState, OfAFullPipe) {
  const Lines body = {kMatrix, kAdd, kAdd, kAdd, "s_cbranch_scc1 65530"};
  const SteadyState state = RunLoop({body}, 40).state;
  EXPECT_DOUBLE_EQ(state.clocks_per_pass, 32);
  EXPECT_DOUBLE_EQ(state.matrix_busy, 1);
  EXPECT_DOUBLE_EQ(state.vector_busy, 12.0 / 32);
}

TEST(SteadyState, UsefulIsWhatIsNotAuxiliary) {
  const std::string other =
      "v_mfma_f32_16x16x32_bf16 v[64:67], v[0:3], v[16:19], v[64:67]";
  const Lines body = {kMatrix, other, "s_nop 9", "s_cbranch_scc1 65530"};
  // Matrix at 0 and 32, s_nop from 36 to 76, branch to 84.
  const SteadyState state =
      RunLoop({body}, 40, {false, true, false, false}).state;
  EXPECT_DOUBLE_EQ(state.clocks_per_pass, 84);
  EXPECT_DOUBLE_EQ(state.matrix_busy, 48.0 / 84);
  EXPECT_DOUBLE_EQ(state.useful_busy, 32.0 / 84);
}

// Averages the SIMDs, by the first wave of each; heads of other loops and
// other groups do not count.
TEST(SteadyState, AveragesTheSimds) {
  const Lines body = {kMatrix, "s_nop 9", kAdd, kAdd, "s_cbranch_scc1 65530"};
  const TimedCode code(body);
  WaveTrace events;
  for (int pass = 0; pass < 40; ++pass) {
    const auto one = code.Events(0, body.size());
    events.events.insert(events.events.end(), one.events.begin(),
                         one.events.end());
  }
  GroupTrace trace;
  trace.waves = {events, events};
  ComputeUnitOptions options;
  options.constants = WarmCode();
  options.marked_steps = {0, 2};
  const ComputeUnitReport report = RunTraces(code, {trace}, options).report;
  const SteadyState state = SteadyStateOf(report, 0, 0);
  EXPECT_DOUBLE_EQ(state.clocks_per_pass, 60);
  EXPECT_GE(state.passes, 38u);
  EXPECT_EQ(SteadyStateOf(report, 1, 0).passes, 0u);
  EXPECT_EQ(SteadyStateOf(report, 0, 1).passes, 0u);
}

TEST(SteadyState, OfTooFewPasses) {
  const Lines body = {kMatrix, "s_nop 9", "s_cbranch_scc1 65530"};
  EXPECT_EQ(RunLoop({body}, 4).state.passes, 0u);
  EXPECT_GT(RunLoop({body}, 5).state.passes, 0u);
}

}  // namespace
}  // namespace zyfa::emu

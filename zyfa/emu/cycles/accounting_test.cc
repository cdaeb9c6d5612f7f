// On random programs: every clock of every wave has its reason, events come in
// order, and the same input gives the same clocks.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/cycles/testing/timed_waves.h"

namespace zyfa::emu {
namespace {

// Whatever a SIMD can do, and waits for all of it.
const std::vector<std::string>& Pool() {
  static const std::vector<std::string> pool = {
      "v_add_f32 v0, v1, v2",
      "v_fma_f32 v0, v1, v2, v3",
      "v_exp_f32 v0, v1",
      "v_pk_mul_f32 v[0:1], v[2:3], v[4:5]",
      "v_mov_b32 v200, v33",
      "v_permlane32_swap_b32 v8, v9",
      "v_mul_lo_u32 v0, v1, v2",
      "v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[16:19], v[32:47]",
      "v_mfma_f32_16x16x32_bf16 v[64:67], v[0:3], v[16:19], v[64:67]",
      "v_mfma_scale_f32_32x32x64_f8f6f4 v[80:95], v[0:7], v[16:23], v[80:95], "
      "v100, v101 op_sel_hi:[0,0,0] cbsz:0 blgp:0",
      "v_smfmac_f32_32x32x32_bf16 v[112:127], v[0:3], v[16:23], v24",
      "ds_read_b128 v[0:3], v4",
      "ds_write_b64 v4, v[0:1]",
      "global_load_dwordx4 v[0:3], v4, s[0:1]",
      "buffer_load_dwordx4 v4, s[0:3], 0 offen lds",
      "global_store_dword v4, v0, s[0:1]",
      "flat_load_dword v0, v[2:3]",
      "s_load_dword s0, s[2:3], 0x0",
      "s_mov_b32 s0, 0",
      "s_waitcnt vmcnt(2)",
      "s_waitcnt lgkmcnt(1)",
      "s_waitcnt vmcnt(0) lgkmcnt(0)",
      "s_nop 5",
      "s_sleep 1",
      "s_setprio 1",
      "s_setprio 0",
      "s_barrier",
      "s_cbranch_scc0 0",
  };
  return pool;
}

struct RandomRun {
  std::vector<GroupTrace> groups;
  ComputeUnitOptions options;
};

// Four groups of up to nine waves, some of them empty, that jump about.
RandomRun MakeRun(const TimedCode& code, uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&random](uint32_t end) {
    return static_cast<uint32_t>(random()) % end;
  };
  RandomRun run;
  for (uint32_t g = 0; g < 4; ++g) {
    GroupTrace trace;
    trace.group = g;
    const uint32_t waves = 1 + pick(9);
    for (uint32_t w = 0; w < waves; ++w) {
      std::vector<uint32_t> steps;
      const uint32_t count = pick(8) == 0 ? 0 : 1 + pick(120);
      uint32_t step = pick(static_cast<uint32_t>(code.loads.size()));
      for (uint32_t i = 0; i < count; ++i) {
        steps.push_back(step);
        step = pick(3) == 0 ? pick(static_cast<uint32_t>(code.loads.size()))
                            : (step + 1) % code.loads.size();
      }
      trace.waves.push_back(code.Events(steps));
    }
    run.groups.push_back(trace);
  }
  run.options.resident = 1 + static_cast<int>(pick(3));
  run.options.marked_steps = {pick(20)};
  // Constants anywhere in their ranges and, some of them, beyond.
  for (const CycleConstant& row : CycleConstantTable()) {
    const double share = pick(5) / 4.0;
    run.options.constants.*row.field =
        pick(3) == 0 ? row.value : row.low + share * (row.high - row.low);
  }
  for (double CycleConstants::* field :
       {&CycleConstants::group_dispatch, &CycleConstants::lds_path_bytes,
        &CycleConstants::lds_fifo, &CycleConstants::memory_queue,
        &CycleConstants::memory_in_flight, &CycleConstants::memory_line,
        &CycleConstants::lds_latency, &CycleConstants::vector_ordinary,
        &CycleConstants::hold_bytes_per_slot}) {
    if (pick(8) == 0) run.options.constants.*field = 0;
  }
  if (pick(2) == 0) run.options.constants.memory_issue = 16;
  if (pick(2) == 0) run.options.constants.issue_internal = 8;
  if (pick(2) == 0) run.options.constants.branch_taken = 10;
  if (pick(3) == 0) run.options.constants.barrier_release = pick(12);
  return run;
}

TimedCode MakeCode() {
  Lines lines;
  for (int i = 0; i < 8; ++i) {
    for (const std::string& text : Pool()) lines.emplace_back(text);
  }
  std::mt19937 random(7);
  std::shuffle(lines.begin(), lines.end(), random);
  return TimedCode(lines);
}

class RandomPrograms : public testing::Test {
 protected:
  static constexpr uint32_t kSeeds = 300;
  const TimedCode code_ = MakeCode();
};

// From its first turn to the end of its last instruction a wave issues or
// waits: 4 clocks an instruction and its stalls.
TEST_F(RandomPrograms, EveryClockIsAccountedFor) {
  uint64_t waves = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const RandomRun run = MakeRun(code_, seed);
    const Timeline timeline = RunTraces(code_, run.groups, run.options);
    struct Sum {
      uint64_t issued = 0, stalled = 0, last = 0, simd = 0;
    };
    std::map<std::pair<uint32_t, uint16_t>, Sum> sums;
    for (const IssueEvent& event : timeline.issues) {
      Sum& sum = sums[{event.group, event.wave}];
      ++sum.issued;
      sum.last = event.time;
      sum.simd = event.simd;
    }
    std::array<uint64_t, kStalls> by_reason{};
    for (const WaitEvent& wait : timeline.waits) {
      sums[{wait.event.group, wait.event.wave}].stalled += wait.clocks;
      by_reason[static_cast<size_t>(wait.stall)] += wait.clocks;
    }
    for (const auto& [wave, sum] : sums) {
      const uint64_t group_start = timeline.report.groups[wave.first].start;
      const uint64_t start = group_start + (sum.simd + 4 - group_start % 4) % 4;
      EXPECT_EQ(sum.last + 4 - start, 4 * sum.issued + sum.stalled)
          << "seed " << seed << " group " << wave.first << " wave "
          << wave.second;
      EXPECT_EQ(sum.issued,
                run.groups[wave.first].waves[wave.second].events.size());
      ++waves;
    }
    // The report's own sums say the same.
    std::array<uint64_t, kStalls> reported{};
    uint64_t issued = 0;
    for (const StepClocks& step : timeline.report.steps) {
      issued += step.issued;
      for (size_t s = 0; s < kStalls; ++s) reported[s] += step.stall[s];
    }
    EXPECT_EQ(reported, by_reason);
    EXPECT_EQ(issued, timeline.issues.size());
    EXPECT_EQ(issued, timeline.report.instructions);
    uint64_t traced = 0;
    for (const GroupTrace& group : run.groups) traced += group.instructions();
    EXPECT_EQ(issued, traced);
  }
  EXPECT_GT(waves, 4000u);
}

// Waits of a wave do not overlap each other or its issues.
TEST_F(RandomPrograms, WaitsLieBetweenTheIssues) {
  for (uint32_t seed = 0; seed < kSeeds / 4; ++seed) {
    const RandomRun run = MakeRun(code_, seed);
    const Timeline timeline = RunTraces(code_, run.groups, run.options);
    std::map<std::pair<uint32_t, uint16_t>,
             std::vector<std::pair<uint64_t, uint64_t>>>
        spans;
    for (const IssueEvent& event : timeline.issues) {
      spans[{event.group, event.wave}].emplace_back(event.time, event.time + 4);
    }
    for (const WaitEvent& wait : timeline.waits) {
      spans[{wait.event.group, wait.event.wave}].emplace_back(
          wait.from, wait.from + wait.clocks);
    }
    for (auto& [wave, list] : spans) {
      std::sort(list.begin(), list.end());
      for (size_t i = 1; i < list.size(); ++i) {
        EXPECT_EQ(list[i].first, list[i - 1].second) << "seed " << seed;
      }
    }
  }
}

TEST_F(RandomPrograms, EventsComeInOrder) {
  for (uint32_t seed = 0; seed < kSeeds / 4; ++seed) {
    const RandomRun run = MakeRun(code_, seed);
    const Timeline timeline = RunTraces(code_, run.groups, run.options);
    uint64_t last = 0;
    std::map<std::pair<uint32_t, uint16_t>, size_t> position;
    std::map<std::pair<uint64_t, IssueKind>, int> port;
    for (const IssueEvent& event : timeline.issues) {
      EXPECT_GE(event.time, last) << "seed " << seed;
      last = event.time;
      // A SIMD's turns; each wave in its own order; one of a kind a turn.
      EXPECT_EQ(event.time % 4, event.simd);
      const auto& events = run.groups[event.group].waves[event.wave].events;
      size_t& at = position[{event.group, event.wave}];
      EXPECT_EQ(events[at++].step, event.step);
      const IssueKind kind = code_.instructions[event.step].issue;
      if (kind != IssueKind::kInternal) {
        EXPECT_EQ(++port[std::pair(event.time, kind)], 1);
      }
    }
  }
}

TEST_F(RandomPrograms, SameInputSameClocks) {
  const auto key = [](const IssueEvent& e) {
    return std::tuple(e.time, e.busy, e.step, e.group, e.wave, e.simd);
  };
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const RandomRun run = MakeRun(code_, seed);
    const Timeline first = RunTraces(code_, run.groups, run.options);
    const Timeline second = RunTraces(code_, run.groups, run.options);
    ASSERT_EQ(first.issues.size(), second.issues.size());
    for (size_t i = 0; i < first.issues.size(); ++i) {
      EXPECT_EQ(key(first.issues[i]), key(second.issues[i]));
    }
    EXPECT_EQ(first.waits.size(), second.waits.size());
    EXPECT_EQ(first.report.clocks, second.report.clocks);
  }
}

// A run without listener and marks has the same clocks.
TEST_F(RandomPrograms, WatchingChangesNothing) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    RandomRun run = MakeRun(code_, seed);
    const Timeline watched = RunTraces(code_, run.groups, run.options);
    run.options.marked_steps.clear();
    std::vector<const GroupTrace*> traces;
    for (const GroupTrace& group : run.groups) traces.push_back(&group);
    const ComputeUnitReport alone =
        RunComputeUnit(code_.instructions, traces, run.options);
    EXPECT_EQ(alone.clocks, watched.report.clocks);
    for (size_t s = 0; s < kSimds; ++s) {
      EXPECT_EQ(alone.pipes[s].matrix, watched.report.pipes[s].matrix);
      EXPECT_EQ(alone.pipes[s].vector, watched.report.pipes[s].vector);
    }
  }
}

}  // namespace
}  // namespace zyfa::emu

// Issue, waits, priorities, barriers, branches, instruction fetch:
// cdna4-timing 3 and 8, expected numbers from there.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/cycles/testing/timed_waves.h"

namespace zyfa::emu {
namespace {

using Times = std::vector<uint64_t>;

constexpr const char* kVector = "v_add_f32 v0, v1, v2";
constexpr const char* kScalar = "s_mov_b32 s0, 0";
constexpr const char* kScalarLoad = "s_load_dword s0, s[2:3], 0x0";
constexpr const char* kLds = "ds_read_b32 v0, v1";
constexpr const char* kMemory = "global_load_dword v0, v1, s[0:1]";
constexpr const char* kBranch = "s_cbranch_scc0 0";
constexpr const char* kMatrix =
    "v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[16:19], 0";

// All on SIMD 0: the group's waves 0, 4, 8 ...
std::vector<Lines> OnOneSimd(const std::vector<Lines>& waves) {
  std::vector<Lines> all;
  for (const Lines& wave : waves) {
    if (!all.empty()) all.resize(all.size() + 3);
    all.push_back(wave);
  }
  return all;
}

Times FirstIssues(const std::vector<Lines>& waves,
                  const CycleConstants& constants = WarmCode()) {
  const Timeline timeline = RunWaves(OnOneSimd(waves), constants);
  Times first;
  for (size_t w = 0; w < waves.size(); ++w) {
    first.push_back(timeline.Of(4 * w)[0]);
  }
  return first;
}

TEST(Issue, TurnsOfTheSimds) {
  const Timeline four = RunWaves({{kVector}, {kVector}, {kVector}, {kVector}});
  for (size_t w = 0; w < 4; ++w) EXPECT_EQ(four.Of(w), Times{w});
}

TEST(Issue, OneOfAWaveEachTurn) {
  EXPECT_EQ(IssuesOf({kVector, kScalar, kLds, kMemory, kBranch, kScalar}),
            (Times{0, 4, 8, 12, 16, 20}));
}

// Five kinds from five waves, and internal ones on top.
TEST(Issue, OneOfEachKindEachTurn) {
  CycleConstants separate = WarmCode();
  separate.issue_shared_memory_port = 0;
  const std::vector<Lines> waves = {
      {kVector}, {kScalar},   {kLds},          {kMemory},
      {kBranch}, {"s_nop 0"}, {"s_waitcnt 0"}, {"s_setprio 1"}};
  EXPECT_EQ(FirstIssues(waves, separate), (Times{0, 0, 0, 0, 0, 0, 0, 0}));
  // LDS and vector memory have one port (section 9).
  EXPECT_EQ(FirstIssues(waves), (Times{0, 0, 0, 4, 0, 0, 0, 0}));
}

TEST(Issue, OneOfAKindEachTurn) {
  for (const std::string text :
       {kVector, kScalar, kScalarLoad, kLds, kMemory, kBranch}) {
    EXPECT_EQ(FirstIssues({{text}, {text}, {text}}), (Times{0, 4, 8})) << text;
  }
  EXPECT_EQ(FirstIssues({{kMatrix}, {kVector}})[0], 0u);
  EXPECT_GT(FirstIssues({{kMatrix}, {kVector}})[1], 0u);
  EXPECT_EQ(FirstIssues({{kVector}, {kMatrix}}), (Times{0, 4}));
  EXPECT_EQ(FirstIssues({{kScalar}, {kScalarLoad}}), (Times{0, 4}));
}

// A wave's vector work and another's LDS reads go together, turn by turn.
TEST(Issue, VectorBesideLdsOfAnotherWave) {
  const Timeline two =
      RunWaves(OnOneSimd({Repeat(6, {kVector}), Repeat(6, {kLds})}));
  EXPECT_EQ(two.Of(0), (Times{0, 4, 8, 12, 16, 20}));
  EXPECT_EQ(two.Of(4), two.Of(0));
  EXPECT_EQ(IssuesOf(Repeat(3, {kVector, kLds})), (Times{0, 4, 8, 12, 16, 20}));
}

TEST(Issue, NopStandsForItsStates) {
  for (int n = 0; n < 16; ++n) {
    EXPECT_EQ(IssuesOf({"s_nop " + std::to_string(n), kVector})[1],
              4u * (static_cast<uint64_t>(n) + 1));
  }
}

// 64 clocks a unit (ISA, s_sleep); s_sleep 0 is a slot.
TEST(Issue, Sleep) {
  EXPECT_EQ(IssuesOf({"s_sleep 1", kVector})[1], 64u);
  EXPECT_EQ(IssuesOf({"s_sleep 10", kVector})[1], 640u);
  EXPECT_EQ(IssuesOf({"s_sleep 0", kVector})[1], 4u);
}

TEST(Issue, WaitsThatAreSatisfiedCostASlot) {
  EXPECT_EQ(IssuesOf({"s_waitcnt vmcnt(0) lgkmcnt(0)", "s_waitcnt vmcnt(3)",
                      "s_waitcnt lgkmcnt(7)", kVector}),
            (Times{0, 4, 8, 12}));
  // Between the matrix instructions of a full stream that slot is lost.
  const Lines full = Join({{kMatrix}, Repeat(6, {kVector})});
  const Lines waiting = Join({full, {"s_waitcnt lgkmcnt(0)"}});
  EXPECT_EQ(IssuesOf(Join({full, full}))[7], 32u);
  EXPECT_EQ(IssuesOf(Join({waiting, waiting}))[8], 36u);
}

TEST(Issue, InternalOnesByTheirConstant) {
  CycleConstants slow = WarmCode();
  slow.issue_internal = 8;
  for (const std::string text : {"s_nop 0", "s_waitcnt 0", "s_setprio 0"}) {
    EXPECT_EQ(IssuesOf({text, kVector})[1], 4u) << text;
    EXPECT_EQ(IssuesOf({text, kVector}, slow)[1], 8u) << text;
  }
}

// s_waitcnt: of n loads in order, all but the newest `count` are there.
TEST(Issue, WaitcntCountsDown) {
  CycleConstants constants = WarmCode();
  constants.memory_round_trip = 400;
  constants.memory_return = 0;
  // Loads at 0, 4, 8, 12 take 4 clocks of the L1 each (section 5).
  for (uint64_t count = 0; count <= 4; ++count) {
    Lines lines = Repeat(4, {kMemory});
    lines.emplace_back("s_waitcnt vmcnt(" + std::to_string(count) + ")");
    const uint64_t at = IssuesOf(lines, constants).back();
    if (count == 4) {
      EXPECT_EQ(at, 16u);
    } else {
      EXPECT_GE(at, 4 * (3 - count) + 400);
      EXPECT_LE(at, 4 * (3 - count) + 408);
    }
  }
  // A store between loads keeps its place in the order.
  constants.memory_store = 200;
  const Times at = IssuesOf({kMemory, "global_store_dword v1, v0, s[0:1]",
                             "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"},
                            constants);
  EXPECT_GE(at[2], 400u);
  EXPECT_EQ(at[3], at[2] + 4);
}

// lgkmcnt counts scalar loads, which come in any order, and LDS operations.
TEST(Issue, LgkmcntOfScalarLoadsAndLds) {
  CycleConstants constants = WarmCode();
  constants.scalar_load_cold = constants.scalar_load = 400;
  // The LDS read is back at 76, the scalar load at 400.
  const Times at = IssuesOf({kScalarLoad, kLds, "s_waitcnt lgkmcnt(1)",
                             "s_waitcnt lgkmcnt(0)", kVector},
                            constants);
  EXPECT_GE(at[2], 68u);
  EXPECT_LE(at[2], 76u);
  EXPECT_EQ(at[3], 400u);
  EXPECT_EQ(at[4], 404u);
  // Stores to LDS count, too.
  EXPECT_GT(IssuesOf({"ds_write_b32 v0, v1", "s_waitcnt lgkmcnt(0)"})[1], 4u);
}

// The counter holds 15: the next one waits for the oldest.
TEST(Issue, LgkmcntAtItsTop) {
  CycleConstants constants = WarmCode();
  constants.scalar_load_cold = constants.scalar_load = 400;
  const Times at = IssuesOf(Repeat(17, {kScalarLoad}), constants);
  EXPECT_EQ(at[14], 56u);
  EXPECT_EQ(at[15], 400u);
  EXPECT_EQ(at[16], 404u);
}

// A FLAT load counts in both (ISA, FLAT): either wait waits for it.
TEST(Issue, FlatLoadsCountInBoth) {
  const std::string flat = "flat_load_dword v0, v[2:3]";
  EXPECT_GE(IssuesOf({flat, "s_waitcnt vmcnt(0)"})[1], 600u);
  EXPECT_GE(IssuesOf({flat, "s_waitcnt lgkmcnt(0)"})[1], 600u);
  EXPECT_EQ(IssuesOf({kMemory, "s_waitcnt lgkmcnt(0)"})[1], 4u);
  EXPECT_EQ(IssuesOf({flat, "s_waitcnt vmcnt(1) lgkmcnt(1)"})[1], 4u);
}

// The first load of a line is cold for everybody until it is there: 720 to 764
// clocks (section 3).
TEST(Issue, ScalarLoads) {
  const CycleConstants constants = WarmCode();
  const TimedCode code({kScalarLoad, "s_waitcnt lgkmcnt(0)", kScalarLoad});
  GroupTrace trace;
  trace.waves = {code.Events({0, 1, 0, 1}), code.Events({0, 1})};
  ComputeUnitOptions options;
  options.constants = constants;
  const Timeline two = RunTraces(code, {trace}, options);
  const Times first = two.Of(0), second = two.Of(1);
  EXPECT_GE(first[1], 720u);
  EXPECT_LE(first[1], 764u);
  EXPECT_GE(second[1], 720u);
  EXPECT_LE(second[1], 764u);
  EXPECT_EQ(first[3] - first[2], static_cast<uint64_t>(constants.scalar_load));
}

TEST(Issue, PriorityGoesFirst) {
  const Lines vectors = Repeat(4, {kVector});
  const Timeline two = RunWaves(OnOneSimd(
      {Join({{"s_nop 0"}, vectors}), Join({{"s_setprio 1"}, vectors})}));
  EXPECT_EQ(two.Of(4), (Times{0, 4, 8, 12, 16}));
  EXPECT_EQ(two.Of(0), (Times{0, 20, 24, 28, 32}));
  // Back to the same priority, the older wave is first again.
  const Timeline back =
      RunWaves(OnOneSimd({Join({{"s_nop 1"}, vectors}),
                          Join({{"s_setprio 3", "s_setprio 0"}, vectors})}));
  EXPECT_EQ(back.Of(0), (Times{0, 8, 12, 16, 20}));
  EXPECT_EQ(back.Of(4)[2], 24u);
}

TEST(Issue, AmongEqualsTheOldestOrInTurns) {
  const Lines vectors = Repeat(3, {kVector});
  const Timeline oldest = RunWaves(OnOneSimd({vectors, vectors}));
  EXPECT_EQ(oldest.Of(0), (Times{0, 4, 8}));
  EXPECT_EQ(oldest.Of(4), (Times{12, 16, 20}));
  CycleConstants turns = WarmCode();
  turns.issue_oldest_first = 0;
  const Timeline alternating = RunWaves(OnOneSimd({vectors, vectors}), turns);
  EXPECT_EQ(alternating.Of(0), (Times{0, 8, 16}));
  EXPECT_EQ(alternating.Of(4), (Times{4, 12, 20}));
}

// 12 clocks after the last arrival, at the SIMD's next turn.
TEST(Barrier, ReleaseAfterTheLastArrival) {
  const Timeline eight = RunWaves({{"s_barrier", kVector},
                                   {"s_barrier", kVector},
                                   {"s_nop 9", "s_barrier", kVector},
                                   {"s_barrier", kVector}},
                                  WarmCode());
  EXPECT_EQ(eight.Of(2)[1], 42u);
  EXPECT_EQ(eight.Of(0)[1], 56u);  // 54 is no turn of SIMD 0
  EXPECT_EQ(eight.Of(1)[1], 57u);
  EXPECT_EQ(eight.Of(2)[2], 54u);
  EXPECT_EQ(eight.Of(3)[1], 55u);
  EXPECT_EQ(IssuesOf({"s_barrier", kVector}, WarmCode()), (Times{0, 12}));
  CycleConstants slow = WarmCode();
  slow.barrier_release = 40;
  EXPECT_EQ(IssuesOf({"s_barrier", kVector}, slow), (Times{0, 40}));
  // It takes its slot even without any latency.
  slow.barrier_release = 0;
  EXPECT_EQ(IssuesOf({"s_barrier", kVector}, slow), (Times{0, 4}));
}

TEST(Barrier, IsOneOfManyInOrder) {
  const Lines lines = {"s_barrier", "s_barrier", "s_barrier"};
  const Timeline two = RunWaves(OnOneSimd({lines, lines}), WarmCode());
  EXPECT_EQ(two.Of(0), (Times{0, 12, 24}));
  EXPECT_EQ(two.Of(4), (Times{0, 12, 24}));
}

// Waves that have ended are not waited for.
TEST(Barrier, OpensWhenTheOthersEnd) {
  const Timeline two = RunWaves(
      OnOneSimd({{"s_barrier", kVector}, {"s_nop 9", "s_endpgm"}}), WarmCode());
  EXPECT_EQ(two.Of(4), (Times{0, 40}));
  EXPECT_EQ(two.Of(0), (Times{0, 52}));
}

TEST(Barrier, IsOfTheOwnGroupAlone) {
  const TimedCode code({"s_barrier", kVector, "s_nop 15", "s_nop 15"});
  GroupTrace first, second;
  first.waves = {code.Events({0, 1})};
  second.waves = {code.Events({2, 3, 0, 1})};
  ComputeUnitOptions options;
  options.constants = WarmCode();
  options.resident = 2;
  const Timeline two = RunTraces(code, {first, second}, options);
  EXPECT_EQ(two.Of(0, 0), (Times{0, 12}));
}

// The model's branch: taken 8 clocks (3, LLVM's constant), else a slot.
TEST(Branch, TakenAndNotTaken) {
  const TimedCode code({kBranch, kVector, kVector});
  ComputeUnitOptions options;
  options.constants = WarmCode();
  GroupTrace falls, jumps;
  falls.waves = {code.Events({0, 1, 2})};
  jumps.waves = {code.Events({0, 2})};
  EXPECT_EQ(RunTraces(code, {falls}, options).Of(0), (Times{0, 4, 8}));
  EXPECT_EQ(RunTraces(code, {jumps}, options).Of(0), (Times{0, 8}));
  options.constants.branch_taken = 16;
  options.constants.branch_not_taken = 12;
  EXPECT_EQ(RunTraces(code, {falls}, options).Of(0), (Times{0, 12, 16}));
  EXPECT_EQ(RunTraces(code, {jumps}, options).Of(0), (Times{0, 16}));
}

// 128-byte lines; 28 to 64 clocks at the first touch of each.
TEST(Fetch, FirstTouchOfEachLine) {
  const CycleConstants cold = CycleConstants::Defaults();
  const auto miss = static_cast<uint64_t>(cold.fetch_miss);
  ASSERT_GE(miss, 28u);
  ASSERT_LE(miss, 64u);
  // 32 instructions of 4 bytes a line.
  const Times at = IssuesOf(Repeat(80, {kScalar}), cold);
  EXPECT_EQ(at[0], miss);
  for (size_t i = 1; i < at.size(); ++i) {
    EXPECT_EQ(at[i] - at[i - 1], i % 32 == 0 ? miss : 4) << i;
  }
}

// What one wave has brought is there for all, and stays.
TEST(Fetch, LinesAreSharedAndStay) {
  const CycleConstants cold = CycleConstants::Defaults();
  const TimedCode code(Repeat(64, {kScalar}));
  std::vector<uint32_t> twice;
  for (uint32_t trip = 0; trip < 2; ++trip) {
    for (uint32_t step = 0; step < 64; ++step) twice.push_back(step);
  }
  GroupTrace trace;
  trace.waves = {code.Events(twice), code.Events(0, 64)};
  ComputeUnitOptions options;
  options.constants = cold;
  const Timeline two = RunTraces(code, {trace}, options);
  const Times first = two.Of(0), second = two.Of(1);
  for (size_t i = 64; i < 128; ++i) EXPECT_EQ(first[i] - first[i - 1], 4u);
  for (size_t i = 0; i < 64; ++i) EXPECT_LE(second[i], first[i] + 4);
}

// A jump to an instruction across two lines needs both.
TEST(Fetch, JumpAcrossTwoLines) {
  Lines lines = Repeat(63, {kScalar});
  lines.emplace_back("v_fma_f32 v0, v1, v2, v3");  // bytes 252 to 259
  lines.insert(lines.begin(), kBranch);
  lines.erase(lines.begin() + 1);
  const TimedCode code(lines);
  ASSERT_EQ(code.instructions[63].address, 252u);
  ASSERT_EQ(code.instructions[63].size, 8u);
  GroupTrace first, second;
  // Touches lines 0 and 2 by the jump, then steps through line 1.
  first.waves = {code.Events({0, 63, 32, 33})};
  ComputeUnitOptions options;
  options.constants = CycleConstants::Defaults();
  const Times at = RunTraces(code, {first}, options).Of(0);
  // Line 1 came with the jump.
  EXPECT_EQ(at[2] - at[1], 4u);
}

// A group starts when one has ended and its place is dispatched.
TEST(Groups, NextOneTakesThePlaceOfOneThatEnded) {
  const TimedCode code(Repeat(10, {kScalar}));
  GroupTrace trace;
  trace.waves = {code.Events(0, 10), code.Events(0, 5)};
  ComputeUnitOptions options;
  options.constants = WarmCode();
  const Timeline three = RunTraces(code, {trace, trace, trace}, options);
  const auto dispatch = static_cast<uint64_t>(options.constants.group_dispatch);
  // Under 1 us (3, GT-attn 10): at most 1700 clocks at 1.7 GHz.
  ASSERT_LE(dispatch, 1700u);
  for (size_t g = 0; g < 3; ++g) {
    EXPECT_EQ(three.report.groups[g].end - three.report.groups[g].start, 40u);
  }
  for (size_t g = 1; g < 3; ++g) {
    const uint64_t last = three.Of(0, g - 1).back();
    EXPECT_EQ(three.report.groups[g].start, last + dispatch);
    EXPECT_EQ(three.Of(0, g)[0], (last + dispatch + 3) / 4 * 4);
  }
  // Two at a time: on every SIMD they share the issue port.
  GroupTrace four;
  four.waves.assign(4, code.Events(0, 10));
  options.resident = 2;
  const Timeline two = RunTraces(code, {four, four}, options);
  EXPECT_EQ(two.report.groups[1].start, 0u);
  EXPECT_EQ(two.Of(0, 0).back(), 36u);
  EXPECT_EQ(two.Of(0, 1).back(), 76u);
}

// Two groups that end in the same turn make room for two.
TEST(Groups, EndingTogether) {
  const TimedCode code({"s_nop 0", "s_endpgm"});
  GroupTrace trace;
  trace.waves.assign(4, code.Events(0, 2));
  ComputeUnitOptions options;
  options.constants = WarmCode();
  options.resident = 2;
  const Timeline four = RunTraces(code, {trace, trace, trace, trace}, options);
  ASSERT_EQ(four.report.groups.size(), 4u);
  EXPECT_EQ(four.Of(0, 0), four.Of(0, 1));
  EXPECT_EQ(four.report.groups[2].start, four.report.groups[3].start);
  EXPECT_GT(four.report.groups[2].start, 0u);
}

// A group none of whose waves does anything ends at once.
TEST(Groups, WithoutInstructions) {
  const TimedCode code({"s_endpgm"});
  GroupTrace empty, one;
  empty.waves = {{}, {}};
  one.waves = {code.Events(0, 1)};
  ComputeUnitOptions options;
  options.constants = WarmCode();
  const Timeline two = RunTraces(code, {empty, one}, options);
  EXPECT_EQ(two.Of(0, 1).size(), 1u);
}

// Groups of a single wave spread over the SIMDs.
TEST(Groups, SpreadOverTheSimds) {
  const TimedCode code({kVector, kVector});
  GroupTrace one, eight;
  one.waves = {code.Events(0, 2)};
  eight.waves.assign(8, code.Events(0, 2));
  ComputeUnitOptions options;
  options.constants = WarmCode();
  options.resident = 4;
  const Timeline four = RunTraces(code, {one, one, one, one}, options);
  std::vector<int> waves(kSimds, 0);
  for (const IssueEvent& event : four.issues) ++waves[event.simd];
  EXPECT_EQ(waves, (std::vector<int>{2, 2, 2, 2}));
  // Waves w and w + 4 of a group share one.
  options.resident = 2;
  for (const IssueEvent& event :
       RunTraces(code, {eight, eight}, options).issues) {
    EXPECT_EQ(event.simd, event.wave % 4);
  }
}

}  // namespace
}  // namespace zyfa::emu

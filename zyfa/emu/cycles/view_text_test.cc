#include "zyfa/emu/cycles/view_text.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "zyfa/emu/cycles/phases_replay.h"

namespace zyfa::emu {
namespace {

// The words of each line; a cell of two words counts as two.
std::vector<std::vector<std::string>> Words(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    lines.push_back(absl::StrSplit(line, ' ', absl::SkipEmpty()));
  }
  return lines;
}

TEST(TopTable, MostWaitingFirst) {
  std::vector<InstructionTime> instructions(4);
  ComputeUnitReport report;
  report.steps.resize(4);
  for (size_t i = 0; i < 4; ++i) {
    instructions[i].address = 16 * i;
    instructions[i].text = "s_nop " + std::to_string(i);
    report.steps[i].issued = 10;
  }
  report.steps[1].stall[static_cast<size_t>(Stall::kNop)] = 25;
  report.steps[3].stall[static_cast<size_t>(Stall::kBarrier)] = 60;
  report.steps[3].stall[static_cast<size_t>(Stall::kWaitLds)] = 20;
  report.steps[3].stall[static_cast<size_t>(Stall::kFetch)] = 1;
  report.steps[0].stall[static_cast<size_t>(Stall::kFetch)] = 3;
  EXPECT_EQ(TopTable(report, instructions, 2),
            "stall clk  issued  clk/issue  address  main reasons               "
            "instruction\n"
            "       81      10        8.1     0x30  barrier 74%, wait lds 25%  "
            "s_nop 3\n"
            "       25      10        2.5     0x10  nop 100%                   "
            "s_nop 1\n");
  // Those that never waited are left out.
  EXPECT_EQ(Words(TopTable(report, instructions, 20)).size(), 4u);
}

TEST(StallTable, ReasonsThatOccur) {
  std::vector<WaveUse> waves(3);
  waves[0] = {.clocks = 100, .issued = 20, .stall = {}};
  waves[0].stall[static_cast<size_t>(Stall::kBarrier)] = 20;
  waves[2] = {.clocks = 90, .issued = 10, .stall = {}};
  waves[2].stall[static_cast<size_t>(Stall::kNop)] = 50;
  EXPECT_EQ(StallTable("wave", RowsOfWaves(waves, 2)),
            "wave  clocks  issuing  barrier   nop\n"
            "0       50.0     40.0     10.0   0.0\n"
            "2       45.0     20.0      0.0  25.0\n");
}

TEST(RegionTable, RowsOfOneWave) {
  const PhasesReplay replay("unnamed", 64, 10);
  const CodeRegion loop =
      RegionOf(replay.loops().at(0), replay.recorder().instructions());
  RegionAccount account(replay.recorder().instructions(),
                        replay.recorder().auxiliary(),
                        {loop, {"elsewhere", 0, 1}});
  const ComputeUnitReport report = replay.Run(&account);
  account.Finish();
  const SteadyState steady = MeanSteadyState(report, loop.first);
  const auto lines = Words(RegionTable(account, {&steady, 1}));
  // What no wave came to has no row.
  ASSERT_EQ(lines.size(), 3u);
  ASSERT_EQ(lines[1].size(), 11u);
  EXPECT_EQ(lines[1][0] + " " + lines[1][1], loop.name);
  EXPECT_EQ(lines[1][3], "10.0");
  EXPECT_EQ(lines[1][5], "23.0");
  EXPECT_EQ(lines[1][6], lines[1][9]);  // one wave: the pipes' use is its own
  EXPECT_EQ(lines[1][8], lines[1][10]);
  EXPECT_EQ(lines[2][0], "steady");
}

// A pass of the loop of eight matrix instructions and twelve exponentials, one
// wave: 7 waits for the matrix pipe, 11 for the vector pipe.
TEST(StallTable, RowsOfRegionsAreAPass) {
  const PhasesReplay replay("unnamed", 64, 10);
  const CodeRegion loop =
      RegionOf(replay.loops().at(0), replay.recorder().instructions());
  RegionAccount account(replay.recorder().instructions(),
                        replay.recorder().auxiliary(),
                        {loop, {"elsewhere", 0, 1}});
  replay.Run(&account);
  account.Finish();
  const std::vector<StallRow> rows = RowsOfRegions(account);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, loop.name);
  EXPECT_EQ(rows[0].divisor, 10);
  EXPECT_EQ(rows[0].use.issued, 10u * 23);
  const auto stall = [&rows](Stall reason) {
    return rows[0].use.stall[static_cast<size_t>(reason)];
  };
  EXPECT_EQ(stall(Stall::kMatrixPipe), 10u * 7 * 28);
  EXPECT_EQ(stall(Stall::kVectorPipe), 10u * 11 * 4);
}

TEST(MeanSteadyState, OfGroupsWithPassesAlone) {
  const PhasesReplay replay("phased", 512, 10);
  ComputeUnitReport report = replay.Run(nullptr);
  const uint32_t head = replay.loops().at(0).head;
  const SteadyState one = SteadyStateOf(report, head, 0);
  report.groups.resize(3);  // two without marks
  const SteadyState mean = MeanSteadyState(report, head);
  EXPECT_GT(one.passes, 0u);
  EXPECT_EQ(mean.passes, one.passes);
  EXPECT_DOUBLE_EQ(mean.clocks_per_pass, one.clocks_per_pass);
  EXPECT_DOUBLE_EQ(mean.matrix_busy, one.matrix_busy);
  // 8 of 9 matrix instructions are no auxiliary ones.
  EXPECT_NEAR(mean.useful_busy, mean.matrix_busy * 8 / 9, 1e-2);
  EXPECT_EQ(MeanSteadyState(report, head + 1).passes, 0u);
}

}  // namespace
}  // namespace zyfa::emu

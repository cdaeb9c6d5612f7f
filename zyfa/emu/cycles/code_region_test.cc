#include "zyfa/emu/cycles/code_region.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

std::vector<std::string> Names(const std::vector<CodeRegion>& regions) {
  std::vector<std::string> names;
  for (const CodeRegion& region : regions) names.push_back(region.name);
  return names;
}

void ExpectAdjoining(const std::vector<CodeRegion>& regions) {
  for (size_t i = 0; i < regions.size(); ++i) {
    EXPECT_LT(regions[i].first, regions[i].end) << regions[i].name;
    if (i > 0) {
      EXPECT_EQ(regions[i].first, regions[i - 1].end) << regions[i].name;
    }
  }
}

TEST(PhasesBySymbol, ThoseOfTheKernelAlone) {
  const TestDevice device("phases");
  const KernelInfo& phased = *device.code().FindKernel("phased");
  const KernelInfo& unnamed = *device.code().FindKernel("unnamed");
  const std::vector<CodeRegion> phases = PhasesBySymbol(device.code(), phased);
  EXPECT_EQ(Names(phases),
            (std::vector<std::string>{"entry", "multiply", "row_sums", "soften",
                                      "next_pass", "ending"}));
  ExpectAdjoining(phases);
  EXPECT_EQ(int64_t{phases.front().first}, device.code().IndexAt(phased.entry));
  EXPECT_EQ(int64_t{phases.back().end}, device.code().IndexAt(unnamed.entry));
  EXPECT_EQ(phases[1].end - phases[1].first, 8u);
  EXPECT_EQ(phases[2].end - phases[2].first, 1u);
  // Exponentials and barrier; the loop's own three instructions.
  EXPECT_EQ(phases[3].end - phases[3].first, 13u);
  EXPECT_EQ(phases[4].end - phases[4].first, 3u);
  EXPECT_TRUE(PhasesBySymbol(device.code(), unnamed).empty());
}

// Twenty instructions of 4 bytes.
std::vector<InstructionTime> Straight() {
  std::vector<InstructionTime> instructions(20);
  for (size_t i = 0; i < instructions.size(); ++i) {
    instructions[i].address = 0x100 + 4 * i;
  }
  return instructions;
}

TEST(PhasesByLoop, LoopsAndWhatLiesBetween) {
  // Loop 4 to 7 comes first and keeps out the one around it.
  const std::vector<TracedLoop> loops = {
      {.head = 10, .tail = 12}, {.head = 4, .tail = 7}, {.head = 2, .tail = 8}};
  const std::vector<CodeRegion> phases = PhasesByLoop(loops, Straight());
  EXPECT_EQ(Names(phases), (std::vector<std::string>{
                               "before loop", "loop 0x110", "after loop 0x110",
                               "loop 0x128", "after loop 0x128"}));
  ExpectAdjoining(phases);
  EXPECT_EQ(phases.front().first, 0u);
  EXPECT_EQ(phases[1].first, 4u);
  EXPECT_EQ(phases[1].end, 8u);
  EXPECT_EQ(phases.back().end, 20u);
}

TEST(PhasesByLoop, OneWithoutLoops) {
  const std::vector<CodeRegion> phases = PhasesByLoop({}, Straight());
  ASSERT_EQ(Names(phases), std::vector<std::string>{"all"});
  EXPECT_EQ(phases[0].end, 20u);
}

TEST(PhasesByLoop, LoopsAtTheEnds) {
  const std::vector<TracedLoop> loops = {{.head = 0, .tail = 9},
                                         {.head = 10, .tail = 19}};
  EXPECT_EQ(Names(PhasesByLoop(loops, Straight())),
            (std::vector<std::string>{"loop 0x100", "loop 0x128"}));
}

}  // namespace
}  // namespace zyfa::emu

#include "zyfa/emu/cycles/group_cost.h"

#include <vector>

#include "gtest/gtest.h"

namespace zyfa::emu {
namespace {

InstructionTime Nop(uint64_t address, uint16_t states) {
  InstructionTime nop;
  nop.control = ControlKind::kNop;
  nop.states = states;
  nop.address = address;
  nop.size = 4;
  return nop;
}

// s_nop of 16 states, a matrix instruction of 8 passes, s_nop of 16, s_endpgm.
std::vector<InstructionTime> Program() {
  InstructionTime matrix;
  matrix.issue = IssueKind::kVector;
  matrix.matrix = true;
  matrix.passes = 8;
  matrix.address = 4;
  matrix.size = 8;
  InstructionTime end;
  end.control = ControlKind::kEnd;
  end.address = 16;
  end.size = 4;
  return {Nop(0, 16), matrix, Nop(12, 16), end};
}

GroupTrace Waves(size_t count) {
  GroupTrace trace;
  trace.waves.resize(count);
  for (auto& wave : trace.waves) wave.events = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
  trace.memory_bytes = 4096;
  return trace;
}

TEST(GroupCostTest, OneWaveByHand) {
  const CycleConstants constants = CycleConstants::Defaults();
  const GroupCost cost = CostOfGroup(Program(), Waves(1), 1, constants, {});
  // 16 states of 4 clocks; the matrix instruction issues at 64 and works to 96;
  // the next s_nop issues at 68 and waits to 132; s_endpgm takes 4.
  EXPECT_EQ(cost.warm, 136);
  EXPECT_EQ(cost.fill, 64);
  EXPECT_EQ(cost.drain, 136 - 96);
  EXPECT_EQ(cost.matrix, 32);
  EXPECT_EQ(cost.useful, 32);
  EXPECT_EQ(cost.memory_bytes, 4096);
  EXPECT_EQ(cost.instructions, 4);
  // All of it lies in one line of 128 bytes.
  EXPECT_EQ(cost.cold, 136 + constants.fetch_miss);
}

TEST(GroupCostTest, FillEndsAtTheFirstMatrixInstructionDrainStartsAtTheLast) {
  GroupTrace trace = Waves(1);
  trace.waves[0].events = {{0, 0}, {1, 0}, {2, 0}, {1, 0}, {2, 0}, {3, 0}};
  const GroupCost cost =
      CostOfGroup(Program(), trace, 1, CycleConstants::Defaults(), {});
  // As above up to the s_nop at 68; the second one works from 132 to 164, the
  // s_nop behind it waits from 136 to 200.
  EXPECT_EQ(cost.fill, 64);
  EXPECT_EQ(cost.drain, 204 - 164);
  EXPECT_EQ(cost.warm, 204);
}

TEST(GroupCostTest, AuxiliaryInstructionsAreNotUseful) {
  const GroupCost cost =
      CostOfGroup(Program(), Waves(4), 1, CycleConstants::Defaults(),
                  {false, true, false, false});
  EXPECT_EQ(cost.matrix, 4 * 32);
  EXPECT_EQ(cost.useful, 0);
}

TEST(GroupCostTest, ResidentGroupsShareAndCountForOne) {
  const GroupCost alone =
      CostOfGroup(Program(), Waves(4), 1, CycleConstants::Defaults(), {});
  const GroupCost pair =
      CostOfGroup(Program(), Waves(4), 2, CycleConstants::Defaults(), {});
  EXPECT_EQ(pair.matrix, alone.matrix);
  EXPECT_EQ(pair.instructions, alone.instructions);
  // Both want the matrix pipe at the same time.
  EXPECT_GT(pair.warm, alone.warm);
  EXPECT_LE(pair.warm, alone.warm + 32);
}

TEST(GroupCostTest, WithoutMatrixInstructionsAllIsFill) {
  std::vector<InstructionTime> program = Program();
  program[1] = Nop(4, 1);
  const GroupCost cost =
      CostOfGroup(program, Waves(1), 1, CycleConstants::Defaults(), {});
  EXPECT_EQ(cost.fill, cost.warm);
  EXPECT_EQ(cost.drain, 0);
}

TEST(GroupCostTest, ScalarLoadsMissOnceAComputeUnit) {
  std::vector<InstructionTime> program = Program();
  program[0] = InstructionTime();
  program[0].issue = IssueKind::kScalar;
  program[0].scalar_load = true;
  program[0].size = 4;
  program[1] = InstructionTime();
  program[1].control = ControlKind::kWaitcnt;
  program[1].lgkmcnt = 0;
  program[1].address = 4;
  program[1].size = 8;
  GroupTrace trace;
  trace.waves = {{{{0, 0}, {1, 0}, {3, 0}}, {}}};
  const CycleConstants constants = CycleConstants::Defaults();
  const GroupCost cost = CostOfGroup(program, trace, 1, constants, {});
  EXPECT_EQ(cost.warm, constants.scalar_load + 8);
  EXPECT_EQ(cost.cold, constants.fetch_miss + constants.scalar_load_cold + 8);
}

TEST(GroupCostTest, LdsBytesAreThoseOfAllWaves) {
  std::vector<InstructionTime> program = Program();
  program[0] = InstructionTime();
  program[0].issue = IssueKind::kLds;
  program[0].size = 4;
  GroupTrace trace;
  // Three reads of 1024 bytes; the load of another instruction is none of it.
  trace.waves = {{{{0, 8 << 16 | 8}, {0, 8 << 16 | 8}, {3, 0}}, {}},
                 {{{0, 8 << 16 | 8}, {1, 8 << 16 | 8}, {3, 0}}, {}}};
  const GroupCost cost =
      CostOfGroup(program, trace, 2, CycleConstants::Defaults(), {});
  EXPECT_EQ(cost.lds_bytes, 3 * 1024);
}

TEST(GroupCostTest, MixIsLinear) {
  GroupCost a, b;
  a.warm = 10;
  b.warm = 30;
  a.instructions = 4;
  EXPECT_EQ(Mix(a, b, 0.25).warm, 15);
  EXPECT_EQ(Mix(a, b, 0.25).instructions, 3);
}

}  // namespace
}  // namespace zyfa::emu

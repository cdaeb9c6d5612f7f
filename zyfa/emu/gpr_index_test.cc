// Register numbers from M0: compiled arrays, and instruction by instruction.

#include "zyfa/emu/gpr_index.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/testing/test_device.h"
#include "zyfa/emu/testing/test_group.h"
#include "zyfa/emu/vector/handlers.h"

namespace zyfa::emu {
namespace {

std::vector<float> Input() {
  std::vector<float> in(16 * 64);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) - 99;
  return in;
}

// The code object does use what is tested.
TEST(GprIndexTest, CompilerEmitsIt) {
  const TestDevice device("dynamic_index");
  int on = 0;
  for (const Instruction& inst : device.code().instructions()) {
    ASSERT_NE(inst.handler, nullptr) << inst.text;
    on += inst.mnemonic == "s_set_gpr_idx_on" ? 1 : 0;
  }
  EXPECT_GE(on, 2);
}

TEST(GprIndexTest, UniformIndex) {
  TestDevice device("dynamic_index");
  const std::vector<float> in = Input();
  for (int put = 0; put < 16; ++put) {
    for (int get = 0; get < 16; ++get) {
      const uint64_t out = device.Upload(std::vector<float>(64));
      device.RunClean(
          "uniform_index", Shape(1, 64),
          Kernarg().Add(out).Add(device.Upload(in)).Add(put).Add(get));
      const auto got = device.Download<float>(out, 64);
      for (int l = 0; l < 64; ++l) {
        ASSERT_EQ(got[l], get == put ? 1000.0f : in[get * 64 + l])
            << put << " " << get;
      }
    }
  }
}

TEST(GprIndexTest, IndexOfEachLane) {
  TestDevice device("dynamic_index");
  const std::vector<float> in = Input();
  std::vector<int> put(64), get(64);
  for (int l = 0; l < 64; ++l) {
    put[l] = l * 7 % 16;
    get[l] = l * l % 16;
  }
  const uint64_t out = device.Upload(std::vector<float>(64));
  device.RunClean("lane_index", Shape(1, 64),
                  Kernarg()
                      .Add(out)
                      .Add(device.Upload(in))
                      .Add(device.Upload(put))
                      .Add(device.Upload(get)));
  const auto got = device.Download<float>(out, 64);
  for (int l = 0; l < 64; ++l) {
    ASSERT_EQ(got[l], put[l] == get[l] ? 1000.0f : in[get[l] * 64 + l]) << l;
  }
}

struct GprIndexSteps : ::testing::Test {
  // A vector instruction as it runs behind `begin` in a text.
  std::string Run(const std::string& begin, const std::string& text) {
    std::vector<Instruction> instructions(2);
    instructions[0].mnemonic = begin;
    instructions[1].mnemonic = text.substr(0, text.find(' '));
    Instruction& inst = instructions[1];
    for (size_t at = text.find(' '); at != std::string::npos;
         at = text.find(' ', at + 1)) {
      Operand operand;
      operand.kind = OperandKind::kVgpr;
      operand.count = 1;
      operand.index = static_cast<uint16_t>(std::stoi(text.substr(at + 2)));
      inst.operands.push_back(operand);
    }
    inst.handler = FindVectorHandler(inst);
    ApplyGprIndexing(instructions);
    inst.handler(inst, *g.wave);
    const std::string error = g.wave->error;
    g.wave->error.clear();
    return error;
  }
  TestGroup g;
};

TEST_F(GprIndexSteps, FieldsOfM0) {
  g.wave->sgpr[kM0] = 0xabcd0f34;
  g.wave->sgpr[2] = 0xffffff05;
  g.Run("s_set_gpr_idx_on s2, gpr_idx(SRC0,DST)");
  EXPECT_EQ(g.wave->sgpr[kM0], 0xabcd9f05u);
  EXPECT_EQ(g.wave->mode.bits >> 27 & 1, 1u);
  g.Run("s_set_gpr_idx_mode gpr_idx(SRC1,SRC2)");
  EXPECT_EQ(g.wave->sgpr[kM0], 0xabcd6f05u);
  g.Run("s_set_gpr_idx_idx 7");
  EXPECT_EQ(g.wave->sgpr[kM0], 0xabcd6f07u);
  g.Run("s_set_gpr_idx_off");
  EXPECT_EQ(g.wave->mode.bits >> 27 & 1, 0u);
}

TEST_F(GprIndexSteps, MovesFollowM0) {
  for (uint32_t r = 0; r < 40; ++r) {
    std::fill_n(g.wave->vgpr[r], kLanes, 100 + r);
  }
  const std::string on = "s_set_gpr_idx_on";
  g.wave->sgpr[2] = 5;
  g.Run(on + " s2, gpr_idx(SRC0)");
  EXPECT_EQ(Run(on, "v_mov_b32 v1, v10"), "");
  EXPECT_EQ(g.wave->vgpr[1][63], 115u);
  g.Run(on + " s2, gpr_idx(DST)");
  EXPECT_EQ(Run(on, "v_mov_b32 v1, v10"), "");
  EXPECT_EQ(g.wave->vgpr[6][0], 110u);
  g.Run(on + " s2, gpr_idx(SRC1)");
  EXPECT_EQ(Run(on, "v_mov_b32 v2, v11"), "");
  EXPECT_EQ(g.wave->vgpr[2][0], 111u);
  g.Run("s_set_gpr_idx_off");
  EXPECT_EQ(Run(on, "v_mov_b32 v3, v12"), "");
  EXPECT_EQ(g.wave->vgpr[3][0], 112u);
}

TEST_F(GprIndexSteps, WhatIsNotEmulatedSaysSo) {
  const std::string on = "s_set_gpr_idx_on";
  g.wave->sgpr[2] = 250;
  g.Run(on + " s2, gpr_idx(SRC0)");
  EXPECT_EQ(Run(on, "v_mov_b32 v1, v10"),
            "VGPR index 250 leaves the registers");
  EXPECT_EQ(Run(on, "v_add_f32 v1, v2, v3"),
            "v_add_f32 is not emulated under VGPR indexing");
  g.Run("s_set_gpr_idx_off");
  EXPECT_EQ(Run(on, "v_add_f32 v1, v2, v3"), "");
}

TEST_F(GprIndexSteps, BranchesCarryIndexingOn) {
  std::vector<Instruction> text(4);
  text[0].mnemonic = "v_mov_b32";
  text[1].mnemonic = "s_set_gpr_idx_on";
  text[2].mnemonic = "s_branch";
  text[2].instruction_class = InstructionClass::kBranch;
  text[3].mnemonic = "s_set_gpr_idx_off";
  const Handler plain = [](const Instruction&, Wave&) {};
  text[0].handler = plain;
  ApplyGprIndexing(text);
  EXPECT_NE(text[0].handler, plain);
  text[2].instruction_class = InstructionClass::kSalu;
  text[0].handler = plain;
  ApplyGprIndexing(text);
  EXPECT_EQ(text[0].handler, plain);
}

TEST_F(GprIndexSteps, ScalarMoves) {
  for (uint32_t r = 0; r < 40; ++r) g.wave->sgpr[r] = 200 + r;
  g.wave->sgpr[kM0] = 3;
  g.Run("s_movrels_b32 s0, s10");
  EXPECT_EQ(g.wave->sgpr[0], 213u);
  g.Run("s_movreld_b32 s4, s20");
  EXPECT_EQ(g.wave->sgpr[7], 220u);
  g.wave->sgpr[kM0] = 4;
  g.Run("s_movrels_b64 s[2:3], s[10:11]");
  EXPECT_EQ(g.wave->ReadScalar64(2), 214u | uint64_t{215} << 32);
  g.Run("s_movreld_b64 s[24:25], s[30:31]");
  EXPECT_EQ(g.wave->ReadScalar64(28), 230u | uint64_t{231} << 32);
  g.wave->sgpr[kM0] = 100;
  EXPECT_EQ(g.RunForRule("s_movrels_b32 s0, s10"),
            "M0 leads to SGPR 110, beyond the last");
}

}  // namespace
}  // namespace zyfa::emu

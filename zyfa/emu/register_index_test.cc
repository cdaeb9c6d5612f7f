#include "zyfa/emu/register_index.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/decoder.h"
#include "zyfa/emu/handlers.h"
#include "zyfa/emu/testing/test_group.h"

namespace zyfa::emu {
namespace {

// Words as the assembler writes them (llvm-mc -show-encoding).
constexpr uint32_t kOnSource0 = 0xbf110106;      // s_set_gpr_idx_on s6, SRC0
constexpr uint32_t kOnDestination = 0xbf110883;  // s_set_gpr_idx_on 3, DST
constexpr uint32_t kIndexS6 = 0xbe803206;        // s_set_gpr_idx_idx s6
constexpr uint32_t kModeSource0 = 0xbf9d0001;    // s_set_gpr_idx_mode SRC0
constexpr uint32_t kOff = 0xbf9c0000;
constexpr uint32_t kMove = 0x7e460302;  // v_mov_b32_e32 v35, v2
constexpr uint32_t kBranch = 0xbf820000;

std::vector<Instruction> Code(const std::vector<uint32_t>& words) {
  std::vector<uint8_t> bytes(4 * words.size());
  std::memcpy(bytes.data(), words.data(), bytes.size());
  std::vector<Instruction> code = (*Decoder::Create())->DecodeAll(bytes);
  for (Instruction& inst : code) inst.handler = FindHandler(inst);
  ApplyRegisterIndexing(code);
  return code;
}

struct RegisterIndex : testing::Test {
  RegisterIndex() {
    for (uint32_t r = 0; r < 64; ++r) g.wave->vgpr[r][5] = 100 + r;
    g.wave->sgpr[kM0] = 0xabcd0000;
  }
  void Run(const std::vector<uint32_t>& words) {
    for (const Instruction& inst : Code(words)) {
      ASSERT_NE(inst.handler, nullptr) << inst.text;
      inst.handler(inst, *g.wave);
    }
  }
  TestGroup g;
};

TEST_F(RegisterIndex, OfSourceAndDestination) {
  g.wave->sgpr[6] = 7;
  Run({kOnSource0, kMove, kOff});
  EXPECT_EQ(g.wave->vgpr[35][5], 109u);
  EXPECT_EQ(g.wave->sgpr[kM0], 0xabcd1007u);
  Run({kOnDestination, kMove, kOff});
  EXPECT_EQ(g.wave->vgpr[38][5], 102u);
  // Off again: as written.
  Run({kMove});
  EXPECT_EQ(g.wave->vgpr[35][5], 102u);
}

TEST_F(RegisterIndex, ChangedWhileOn) {
  g.wave->sgpr[6] = 9;
  Run({kOnDestination, kModeSource0, kIndexS6, kMove, kOff});
  EXPECT_EQ(g.wave->vgpr[35][5], 111u);
}

TEST_F(RegisterIndex, BehindTheLastRegister) {
  g.wave->sgpr[6] = 254;
  Run({kOnSource0, kMove});
  EXPECT_EQ(g.wave->error, "the register index 254 makes v2 v256");
}

TEST_F(RegisterIndex, WhatIsNotCovered) {
  EXPECT_EQ(Code({kOnSource0, kBranch, kOff})[1].handler, nullptr);
  EXPECT_NE(Code({kOnSource0, kOff, kBranch})[2].handler, nullptr);
  // v_readfirstlane_b32 s0, v0 and v_add_co_u32_e32 v0, vcc, v1, v2.
  EXPECT_EQ(Code({kOnSource0, 0x7e000500, kOff})[1].handler, nullptr);
  EXPECT_EQ(Code({kOnSource0, 0x32000501, kOff})[1].handler, nullptr);
}

}  // namespace
}  // namespace zyfa::emu

#include "zyfa/emu/disassembly_text.h"

#include "gtest/gtest.h"

namespace zyfa::emu {
namespace {

Instruction Parse(const std::string& text, uint32_t word = 0) {
  Instruction inst;
  inst.text = text;
  inst.size = 8;
  inst.understood = ParseDisassembly(word, inst);
  return inst;
}

TEST(DisassemblyText, Registers) {
  const Instruction i =
      Parse("v_mfma_f32_32x32x16_bf16 a[0:15], v[16:19], s[4:7], ttmp[4:5]");
  ASSERT_TRUE(i.understood);
  ASSERT_EQ(i.operands.size(), 4u);
  EXPECT_EQ(i.operands[0].kind, OperandKind::kAgpr);
  EXPECT_EQ(i.operands[0].count, 16);
  EXPECT_EQ(i.operands[1].kind, OperandKind::kVgpr);
  EXPECT_EQ(i.operands[1].index, 16);
  EXPECT_EQ(i.operands[2].index, 4);
  EXPECT_EQ(i.operands[2].count, 4);
  EXPECT_EQ(i.operands[3].index, 112);
  const Instruction named = Parse("s_mov_b64 exec, vcc");
  EXPECT_EQ(named.operands[0].index, kExecLo);
  EXPECT_EQ(named.operands[1].index, kVccLo);
  EXPECT_EQ(named.operands[1].count, 2);
  EXPECT_EQ(Parse("s_mov_b32 m0, exec_hi").operands[1].index, kExecLo + 1);
}

TEST(DisassemblyText, SourceModifiers) {
  const Instruction i = Parse("v_fma_f32 v0, -v1, |v2|, -|s3| clamp mul:4");
  ASSERT_TRUE(i.understood);
  EXPECT_TRUE(i.operands[1].negate);
  EXPECT_FALSE(i.operands[1].absolute);
  EXPECT_TRUE(i.operands[2].absolute);
  EXPECT_TRUE(i.operands[3].negate && i.operands[3].absolute);
  EXPECT_TRUE(i.mods.clamp);
  EXPECT_EQ(i.mods.omod, 2);
  const Instruction sdwa = Parse(
      "v_add_u32_sdwa v0, sext(v1), v2 dst_sel:WORD_1 "
      "dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3 src1_sel:DWORD");
  ASSERT_TRUE(sdwa.understood);
  EXPECT_EQ(sdwa.mnemonic, "v_add_u32");
  EXPECT_TRUE(sdwa.mods.sdwa);
  EXPECT_TRUE(sdwa.operands[1].sign_extend);
  EXPECT_EQ(sdwa.mods.dst_sel, SdwaSelect::kWord1);
  EXPECT_EQ(sdwa.mods.dst_unused, SdwaUnused::kPreserve);
  EXPECT_EQ(sdwa.mods.src_sel[0], SdwaSelect::kByte3);
}

TEST(DisassemblyText, Constants) {
  EXPECT_EQ(Parse("s_mov_b32 s0, -16").operands[1].integer, -16);
  EXPECT_EQ(Parse("s_mov_b32 s0, 0xff800000").operands[1].integer, 0xff800000);
  EXPECT_EQ(Parse("s_mov_b32 s0, lit(0xffffffff)").operands[1].integer,
            0xffffffff);
  const Operand real = Parse("v_mul_f32_e64 v0, v1, -0.5").operands[2];
  EXPECT_EQ(real.kind, OperandKind::kFloat);
  EXPECT_EQ(real.real, -0.5);
  EXPECT_EQ(Parse("s_load_dword s0, s[2:3], -0x4").operands[2].integer, -4);
  // The scalar immediate comes from the encoding.
  EXPECT_EQ(
      Parse("s_waitcnt vmcnt(5) lgkmcnt(3)", 0xbf8c0375).operands[0].integer,
      0x0375);
  const Instruction hw =
      Parse("s_setreg_b32 hwreg(HW_REG_MODE, 0, 8), s3", 0xb9033801);
  ASSERT_TRUE(hw.understood);
  EXPECT_EQ(hw.operands[0].integer, 0x3801);
  EXPECT_EQ(hw.operands[1].index, 3);
}

TEST(DisassemblyText, MatrixAndPackedModifiers) {
  const Instruction i = Parse(
      "v_pk_fma_f32 v[0:1], v[2:3], s[4:5], v[6:7] op_sel:[0,1,0] "
      "op_sel_hi:[1,0,1] neg_lo:[0,0,1] neg_hi:[1,0,0]");
  ASSERT_TRUE(i.understood);
  EXPECT_EQ(i.mods.op_sel, 2);
  EXPECT_EQ(i.mods.op_sel_hi, 5);
  EXPECT_EQ(i.mods.neg_lo, 4);
  EXPECT_EQ(i.mods.neg_hi, 1);
  EXPECT_TRUE(i.mods.has_op_sel && i.mods.has_op_sel_hi);
  const Instruction f8 = Parse(
      "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:27], v[0:15] "
      "cbsz:1 abid:2 blgp:4");
  EXPECT_EQ(f8.mods.cbsz, 1);
  EXPECT_EQ(f8.mods.abid, 2);
  EXPECT_EQ(f8.mods.blgp, 4);
  EXPECT_EQ(f8.instruction_class, InstructionClass::kMfma);
  EXPECT_EQ(Parse("v_bitop3_b32 v0, v1, v2, v3 bitop3:0x6c").mods.bitop3, 0x6c);
}

TEST(DisassemblyText, Dpp) {
  const Instruction quad = Parse(
      "v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xa bank_mask:0xf "
      "bound_ctrl:1");
  ASSERT_TRUE(quad.understood);
  EXPECT_EQ(quad.mnemonic, "v_mov_b32");
  EXPECT_EQ(quad.mods.dpp, DppControl::kQuadPerm);
  EXPECT_EQ(quad.mods.dpp_value, 0xb1);
  EXPECT_EQ(quad.mods.row_mask, 0xa);
  EXPECT_TRUE(quad.mods.bound_ctrl);
  EXPECT_EQ(Parse("v_mov_b32_dpp v0, v1 row_bcast:31 row_mask:0xc "
                  "bank_mask:0xf")
                .mods.dpp,
            DppControl::kRowBcast31);
  EXPECT_EQ(Parse("v_mov_b32_dpp v0, v1 row_shr:15").mods.dpp_value, 15);
}

TEST(DisassemblyText, Memory) {
  const Instruction i = Parse(
      "buffer_load_dwordx4 v4, s[0:3], s7 offen offset:64 sc0 nt sc1 lds");
  ASSERT_TRUE(i.understood);
  EXPECT_EQ(i.operands.size(), 3u);
  EXPECT_EQ(i.mods.offset, 64);
  EXPECT_TRUE(i.mods.offen && i.mods.lds && i.mods.sc0 && i.mods.sc1 &&
              i.mods.nt);
  EXPECT_EQ(Parse("global_load_dword v0, v[2:3], off offset:-4096").mods.offset,
            -4096);
  EXPECT_EQ(Parse("global_load_dword v0, v[2:3], off").operands[2].kind,
            OperandKind::kNone);
  const Instruction pair =
      Parse("ds_read2_b32 v[0:1], v4 offset0:1 offset1:255");
  EXPECT_EQ(pair.mods.offset0, 1);
  EXPECT_EQ(pair.mods.offset1, 255);
}

TEST(DisassemblyText, UnknownWordsAreRefused) {
  for (const char* text :
       {"buffer_load_dword v0, v1, s[0:3], 0 offen tfe",
        "v_add_f32_e32 v0, v1, w2", "v_mov_b32_dpp v0, v1 row_share:3",
        "s_mov_b32 s0, sext(", "v_add_f32 v0, |v1, v2", "s_mov_b32 s0, s[3",
        "s_mov_b32 s0, s[5:4]", "s_mov_b32 s0, v999", "v_x v0, neg(v1",
        "v_x v0, v1 op_sel:[0,2]", "v_x v0, v1 quad_perm:[0,1,2]",
        "v_x v0, v1 clamp extra", "v_x v0 v1, v2"}) {
    EXPECT_FALSE(Parse(text).understood) << text;
  }
}

TEST(DisassemblyText, Classes) {
  EXPECT_EQ(ClassOf("v_exp_f32"), InstructionClass::kTrans);
  EXPECT_EQ(ClassOf("v_add_f32"), InstructionClass::kValu);
  EXPECT_EQ(ClassOf("v_smfmac_f32_16x16x64_bf16"), InstructionClass::kMfma);
  EXPECT_EQ(ClassOf("ds_bpermute_b32"), InstructionClass::kLds);
  EXPECT_EQ(ClassOf("global_load_lds_dword"), InstructionClass::kVmem);
  EXPECT_EQ(ClassOf("s_load_dwordx4"), InstructionClass::kSmem);
  EXPECT_EQ(ClassOf("s_cbranch_scc0"), InstructionClass::kBranch);
  EXPECT_EQ(ClassOf("s_lshl_b32"), InstructionClass::kSalu);
  EXPECT_EQ(ClassOf("s_waitcnt"), InstructionClass::kOther);
}

}  // namespace
}  // namespace zyfa::emu

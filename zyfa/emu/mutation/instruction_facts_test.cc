#include "zyfa/emu/mutation/instruction_facts.h"

#include <gtest/gtest.h>

#include <string>

namespace zyfa::emu {
namespace {

// "v0-3 a5 ", runs of registers.
std::string Names(const VectorSet& set) {
  std::string names;
  for (size_t i = 0; i < set.size(); ++i) {
    if (!set[i]) continue;
    const size_t first = i;
    while (i + 1 < set.size() && set[i + 1] && (i + 1) % 256 != 0) ++i;
    names += (first < 256 ? "v" : "a") + std::to_string(first % 256);
    if (i > first) names += "-" + std::to_string(i % 256);
    names += " ";
  }
  return names;
}

std::string Numbers(const ScalarSet& set) {
  std::string numbers;
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i]) numbers += std::to_string(i) + " ";
  }
  return numbers;
}

// Every kind of operand in its role, checked against the assembler's manual
// pages of the instructions.
TEST(InstructionFacts, VectorRegisters) {
  static const struct {
    const char *text, *writes, *reads;
  } kCases[] = {
      {"v_add_f32_e32 v50, v0, v51", "v50 ", "v0 v51 "},
      {"v_fma_f32 v1, -v2, |v3|, -|v4|", "v1 ", "v2-4 "},
      {"v_add_u32_sdwa v1, sext(v2), v3 dst_sel:DWORD", "v1 ", "v2-3 "},
      {"v_fmac_f32_e32 v3, v8, v5", "v3 ", "v3 v5 v8 "},
      {"v_dot4c_i32_i8_e32 v14, v12, v13", "v14 ", "v12-14 "},
      {"v_dot4_u32_u8 v9, v8, v12, v13", "v9 ", "v8 v12-13 "},
      {"v_cmp_eq_u32_e32 vcc, v60, v61", "", "v60-61 "},
      {"v_add_co_u32_e64 v2, s[0:1], v3, v4", "v2 ", "v3-4 "},
      {"v_mad_u64_u32 v[2:3], s[0:1], v10, s3, v[6:7]", "v2-3 ", "v6-7 v10 "},
      {"v_permlane32_swap_b32_e32 v0, v1", "v0-1 ", "v0-1 "},
      {"v_swap_b32 v7, v9", "v7 v9 ", "v7 v9 "},
      {"v_mov_b32_dpp v8, v5 row_shl:15 row_mask:0xf bank_mask:0xf", "v8 ",
       "v5 "},
      {"v_readlane_b32 s20, v0, 3", "", "v0 "},
      {"v_writelane_b32 v50, s3, 5", "v50 ", ""},
      {"v_accvgpr_write_b32 a3, v4", "a3 ", "v4 "},
      {"v_accvgpr_read_b32 v4, a3", "v4 ", "a3 "},
      {"v_mfma_f32_16x16x32_bf16 a[0:3], v[20:23], a[24:27], a[4:7]", "a0-3 ",
       "v20-23 a4-7 a24-27 "},
      {"v_smfmac_f32_16x16x64_bf16 v[0:3], v[20:23], v[24:31], v36", "v0-3 ",
       "v0-3 v20-31 v36 "},
      {"v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0, v50, "
       "v51 op_sel_hi:[0,0,0]",
       "v0-15 ", "v20-35 v50-51 "},
      {"global_load_dwordx4 v[34:37], v[2:3], off", "v34-37 ", "v2-3 "},
      {"global_store_dwordx2 v[0:1], v[4:5], off", "", "v0-1 v4-5 "},
      {"global_atomic_add v1, v2, v3, s[4:5] sc0", "v1 ", "v2-3 "},
      {"global_atomic_add v2, v3, s[4:5]", "", "v2-3 "},
      {"buffer_atomic_add v1, v0, s[0:3], 0 offen sc0", "v1 ", "v0-1 "},
      {"buffer_load_dword v60, s[12:15], 0 offen lds", "", "v60 "},
      {"buffer_load_dwordx4 v[4:7], v217, s[60:63], 0 offen", "v4-7 ", "v217 "},
      {"global_load_lds_dwordx4 v60, s[4:5]", "", "v60 "},
      {"scratch_load_dwordx2 v[34:35], off, off offset:48", "v34-35 ", ""},
      {"ds_read_b64_tr_b16 a[164:165], v206", "a164-165 ", "v206 "},
      {"ds_write2_b64 v1, v[2:3], v[4:5] offset1:8", "", "v1-5 "},
      {"ds_add_rtn_u32 v7, v8, v9", "v7 ", "v8-9 "},
      {"ds_add_u32 v8, v9", "", "v8-9 "},
      {"ds_bpermute_b32 v39, v97, v34", "v39 ", "v34 v97 "},
  };
  for (const auto& c : kCases) {
    const InstructionFacts facts = FactsOf(c.text);
    EXPECT_EQ(Names(facts.writes), c.writes) << c.text;
    EXPECT_EQ(Names(facts.reads), c.reads) << c.text;
  }
}

TEST(InstructionFacts, ScalarRegisters) {
  static const struct {
    const char *text, *writes, *constants, *address;
  } kCases[] = {
      {"v_cmp_eq_u32_e64 s[20:21], s3, v60", "20 21 ", "3 ", ""},
      {"v_cmpx_eq_u32_e32 vcc, v60, v60", "106 107 126 127 ", "", ""},
      {"v_addc_co_u32_e32 v53, vcc, s7, v52, vcc", "106 107 ", "7 ", ""},
      {"v_subb_co_u32_e64 v6, s[0:1], v7, v8, s[2:3]", "0 1 ", "", ""},
      {"v_cndmask_b32_e64 v8, s4, -1, s[0:1]", "", "4 ", ""},
      {"v_div_scale_f32 v1, vcc, v2, s5, v2", "106 107 ", "5 ", ""},
      {"v_readfirstlane_b32 s14, v63", "14 ", "", ""},
      {"v_writelane_b32 v50, s3, s5", "", "3 ", ""},
      {"v_mov_b32_e32 v50, exec_lo", "", "126 ", ""},
      {"buffer_load_dword v50, v60, s[12:15], s20 offen", "", "",
       "12 13 14 15 20 "},
      {"global_load_dword v50, v60, s[4:5]", "", "", "4 5 "},
      {"s_mov_b32 m0, 0", "124 ", "", ""},
      {"s_and_saveexec_b64 s[10:11], vcc", "10 11 ", "", ""},
      {"s_load_dwordx2 s[2:3], s[0:1], 0x20", "2 3 ", "", ""},
      {"s_cmp_eq_u32 s19, 0", "", "", ""},
      {"s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s3", "", "", ""},
      {"s_setpc_b64 s[30:31]", "", "", ""},
  };
  for (const auto& c : kCases) {
    const InstructionFacts facts = FactsOf(c.text);
    EXPECT_EQ(Numbers(facts.scalar_writes), c.writes) << c.text;
    EXPECT_EQ(Numbers(facts.constants), c.constants) << c.text;
    EXPECT_EQ(Numbers(facts.scalar_address), c.address) << c.text;
  }
  EXPECT_EQ(Numbers(FactsOf("v_writelane_b32 v50, s3, s5").lane_select), "5 ");
  EXPECT_EQ(Numbers(FactsOf("v_readlane_b32 s22, v1, s20").lane_select), "20 ");
  EXPECT_EQ(Numbers(FactsOf("v_div_fmas_f32 v0, v1, v2, v3").vcc_mask),
            "106 107 ");
}

// ISA 1.1, and the older shapes that gfx950 has from gfx942.
TEST(InstructionFacts, Passes) {
  static const struct {
    const char* text;
    int passes;
  } kCases[] = {
      {"v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], 0", 8},
      {"v_mfma_f32_16x16x32_f16 v[0:3], v[20:23], v[24:27], 0", 4},
      {"v_mfma_f32_32x32x8_bf16 v[0:15], v[20:21], v[24:25], 0", 8},
      {"v_mfma_f32_16x16x16_f16 v[0:3], v[20:21], v[24:25], 0", 4},
      {"v_mfma_f32_32x32x4_2b_bf16 v[0:31], v[40:41], v[42:43], 0", 16},
      {"v_mfma_f32_16x16x4_4b_f16 v[0:15], v[40:41], v[42:43], 0", 8},
      {"v_mfma_f32_4x4x4_16b_f16 v[0:3], v[20:21], v[22:23], 0", 2},
      {"v_mfma_f32_32x32x16_fp8_bf8 v[0:15], v[20:21], v[24:25], 0", 8},
      {"v_mfma_f32_16x16x32_bf8_fp8 v[0:3], v[20:21], v[24:25], 0", 4},
      {"v_mfma_i32_32x32x32_i8 v[0:15], v[20:23], v[24:27], 0", 8},
      {"v_mfma_i32_16x16x64_i8 v[0:3], v[20:23], v[24:27], 0", 4},
      {"v_mfma_f32_32x32x2_f32 v[0:15], v20, v21, 0", 16},
      {"v_mfma_f32_16x16x4_f32 v[0:3], v20, v21, 0", 8},
      {"v_mfma_f32_4x4x1_16b_f32 v[0:3], v20, v21, 0", 2},
      {"v_mfma_f32_32x32x1_2b_f32 v[0:31], v40, v41, 0", 16},
      {"v_mfma_f32_16x16x1_4b_f32 v[0:15], v40, v41, 0", 8},
      {"v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:35], 0", 16},
      {"v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:27], v[28:31], 0 blgp:4", 16},
      {"v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:23], v[28:35], 0 cbsz:4 "
       "blgp:1",
       16},
      {"v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[20:25], v[28:31], 0 cbsz:2 "
       "blgp:4",
       8},
      {"v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[20:27], v[28:35], 0, v3, "
       "v2 op_sel_hi:[0,0,0]",
       8},
      {"v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[20:25], v[28:33], 0, v3, "
       "v2 op_sel_hi:[0,0,0] cbsz:3 blgp:2",
       4},
      {"v_smfmac_f32_16x16x128_fp8_fp8 v[0:3], v[20:23], v[24:31], v36", 4},
      {"v_smfmac_f32_32x32x32_bf16 v[0:15], v[20:23], v[24:31], v36", 8},
  };
  for (const auto& c : kCases) {
    const InstructionFacts facts = FactsOf(c.text);
    EXPECT_TRUE(facts.matrix) << c.text;
    EXPECT_EQ(facts.passes, c.passes) << c.text;
  }
}

TEST(InstructionFacts, PlacedResults) {
  static const struct {
    const char* text;
    bool placed;
    int scale_part;
  } kCases[] = {
      {"v_cvt_pk_fp8_f32 v0, v1, v2", false, -1},
      {"v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]", true, -1},
      {"v_cvt_sr_bf8_f32 v2, v27, 0 op_sel:[0,0,0,1]", true, -1},
      {"v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3", false, 0},
      {"v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3 op_sel:[0,0,0,1]", true, 1},
      {"v_cvt_scalef32_pk_bf8_f16 v20, v27, v30 op_sel:[0,0,1]", true, 1},
      {"v_cvt_scalef32_sr_fp8_f32 v13, v23, 0, v30 op_sel:[0,0,1,0]", true, 1},
      {"v_cvt_scalef32_sr_fp8_f16 v14, v31, 0, v30 op_sel:[0,0,0,1]", true, 2},
      {"v_cvt_scalef32_pk_fp4_f16 v2, v18, v17 op_sel:[0,0,1,1]", true, 3},
      {"v_cvt_scalef32_pk_fp4_f32 v2, v18, v19, v17 op_sel:[0,0,0,1]", true, 2},
      {"v_cvt_scalef32_f32_fp8 v26, v18, v30 op_sel:[1,0,0]", false, -1},
      {"v_cvt_scalef32_pk_f16_fp4 v14, v16, v17 op_sel:[1,1,0]", false, -1},
      {"v_pk_mul_f32 v[2:3], v[4:5], v[6:7] op_sel:[1,1] op_sel_hi:[0,1]",
       false, -1},
      {"v_fma_mix_f32 v12, v10, v11, v12 op_sel:[0,0,1] op_sel_hi:[1,1,0]",
       false, -1},
      {"v_fma_f16 v0, v1, v2, v3 op_sel:[0,0,0,1]", true, -1},
      {"v_add_f16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
       "src0_sel:DWORD src1_sel:DWORD",
       true, -1},
      {"v_and_b32_sdwa v0, v10, v1 dst_sel:DWORD dst_unused:UNUSED_PAD "
       "src0_sel:WORD_1 src1_sel:DWORD",
       false, -1},
  };
  for (const auto& c : kCases) {
    const InstructionFacts facts = FactsOf(c.text);
    EXPECT_EQ(facts.placed, c.placed) << c.text;
    EXPECT_EQ(facts.scale_part, c.scale_part) << c.text;
  }
}

TEST(InstructionFacts, WaitStates) {
  EXPECT_EQ(FactsOf("v_nop").states, 1);
  EXPECT_EQ(FactsOf("s_nop 0").states, 1);
  EXPECT_EQ(FactsOf("s_nop 15").states, 16);
  EXPECT_EQ(FactsOf("s_nop 15 (edited to 0x3)").states, 4);
  EXPECT_EQ(FactsOf("s_waitcnt vmcnt(0) lgkmcnt(0)").states, 1);
}

}  // namespace
}  // namespace zyfa::emu

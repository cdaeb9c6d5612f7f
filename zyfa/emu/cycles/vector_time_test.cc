// Vector instructions: cdna4-timing 2.1, expected numbers from there.

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/cycles/testing/timed_waves.h"

namespace zyfa::emu {
namespace {

// Clocks from one to the next of a wave that issues nothing else.
uint64_t Clocks(const std::string& text,
                const CycleConstants& constants = WarmCode()) {
  const std::vector<uint64_t> at = IssuesOf(Repeat(4, {text}), constants);
  EXPECT_EQ(at[2] - at[1], at[1] - at[0]) << text;
  EXPECT_EQ(at[3] - at[2], at[1] - at[0]) << text;
  return at[1] - at[0];
}

TEST(VectorTime, OneSlot) {
  for (const std::string text :
       {"v_add_f32 v0, v1, v2", "v_mul_f32 v0, v1, v2",
        "v_fma_f32 v0, v1, v2, v3", "v_fmac_f32 v0, v1, v2",
        "v_max_f32 v0, v1, v2", "v_min_f32 v0, v1, v2",
        "v_max3_f32 v0, v1, v2, v3", "v_min3_f32 v0, v1, v2, v3",
        "v_maximum3_f32 v0, v1, v2, v3", "v_med3_f32 v0, v1, v2, v3",
        "v_add_u32 v0, v1, v2", "v_and_b32 v0, v1, v2", "v_or_b32 v0, v1, v2",
        "v_lshlrev_b32 v0, v1, v2", "v_bitop3_b32 v0, v1, v2, v3 bitop3:0x20",
        "v_mov_b32 v0, v1", "v_cmp_gt_f32 vcc, v0, v1",
        "v_cndmask_b32 v0, v1, v2, vcc", "v_perm_b32 v0, v1, v2, v3",
        "v_cvt_pk_bf16_f32 v0, v1, v2", "v_cvt_f16_f32 v0, v1",
        "v_cvt_pk_f16_f32 v0, v1, v2", "v_cvt_pknorm_u16_f32 v0, v1, v2",
        "v_cvt_pkrtz_f16_f32 v0, v1, v2",
        "v_add_f32 v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf",
        "v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]",
        // 4 best, 8 possible.
        "v_cvt_pk_fp8_f32 v0, v1, v2", "v_cvt_pk_bf8_f32 v0, v1, v2",
        "v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3",
        "v_cvt_pk_u8_f32 v0, v1, 0, v0", "v_cvt_u32_f32 v0, v1",
        "v_cvt_f32_i32 v0, v1", "v_cvt_i32_f32 v0, v1", "v_cvt_f32_u32 v0, v1",
        // Packed fp32 away from matrix instructions.
        "v_pk_add_f32 v[0:1], v[2:3], v[4:5]",
        "v_pk_mul_f32 v[0:1], v[2:3], v[4:5]",
        "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]",
        "v_pk_mov_b32 v[0:1], v[2:3], v[4:5]", "v_pk_fma_f16 v0, v1, v2, v3",
        // 4 to 8.
        "v_mov_b64 v[0:1], v[2:3]", "v_lshl_add_u64 v[0:1], v[2:3], 0, v[4:5]",
        // Not in the list and ordinary by what they are.
        "v_accvgpr_read_b32 v0, a0", "v_accvgpr_write_b32 a0, v0",
        "v_readlane_b32 s0, v0, 1", "v_readfirstlane_b32 s0, v0",
        "v_mul_u32_u24 v0, v1, v2", "v_mul_hi_u32_u24 v0, v1, v2",
        "v_mul_hi_i32_i24 v0, v1, v2", "v_mad_u32_u24 v0, v1, v2, v3",
        "v_dot2_f32_f16 v0, v1, v2, v3", "v_nop"}) {
    EXPECT_EQ(Clocks(text), 4u) << text;
  }
}

TEST(VectorTime, Transcendental) {
  for (const std::string text :
       {"v_exp_f32 v0, v1", "v_log_f32 v0, v1", "v_rcp_f32 v0, v1",
        "v_rsq_f32 v0, v1", "v_sqrt_f32 v0, v1", "v_sin_f32 v0, v1",
        "v_cos_f32 v0, v1", "v_rcp_iflag_f32 v0, v1", "v_exp_f16 v0, v1"}) {
    EXPECT_EQ(Clocks(text), 8u) << text;
  }
  // It keeps the vector pipe alone: scalar work goes on beside it.
  EXPECT_EQ(
      IssuesOf({"v_exp_f32 v0, v1", "s_mov_b32 s0, 0", "v_add_f32 v2, v3, v4"}),
      (std::vector<uint64_t>{0, 4, 8}));
}

TEST(VectorTime, PermlaneSwap) {
  EXPECT_EQ(Clocks("v_permlane32_swap_b32 v0, v1"), 8u);
  EXPECT_EQ(Clocks("v_permlane16_swap_b32 v0, v1"), 8u);
}

TEST(VectorTime, WideMultiplyIsIn8To16) {
  for (const std::string text :
       {"v_mul_lo_u32 v0, v1, v2", "v_mul_hi_u32 v0, v1, v2",
        "v_mul_hi_i32 v0, v1, v2"}) {
    EXPECT_GE(Clocks(text), 8u) << text;
    EXPECT_LE(Clocks(text), 16u) << text;
  }
}

// A chain of dependent instructions has no bubble (1.4, last rows).
TEST(VectorTime, DependentChain) {
  EXPECT_EQ(IssuesOf({"v_add_f32 v0, v0, v1", "v_add_f32 v0, v0, v1",
                      "v_mul_f32 v2, v0, v0", "v_exp_f32 v3, v2",
                      "v_exp_f32 v3, v3"}),
            (std::vector<uint64_t>{0, 4, 8, 12, 20}));
}

// Each class listens to its own constant.
TEST(VectorTime, ConstantOfEachClass) {
  struct Class {
    double CycleConstants::* field;
    std::vector<std::string> texts;
  };
  const std::vector<Class> classes = {
      {&CycleConstants::vector_ordinary,
       {"v_add_f32 v0, v1, v2", "v_cvt_pk_bf16_f32 v0, v1, v2",
        "v_pk_fma_f16 v0, v1, v2, v3", "v_mul_hi_u32_u24 v0, v1, v2",
        "v_accvgpr_read_b32 v0, a0", "v_readlane_b32 s0, v0, 1"}},
      {&CycleConstants::vector_transcendental, {"v_exp_f32 v0, v1"}},
      {&CycleConstants::vector_packed_fp32,
       {"v_pk_add_f32 v[0:1], v[2:3], v[4:5]",
        "v_pk_mul_f32 v[0:1], v[2:3], v[4:5]",
        "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]",
        "v_pk_mov_b32 v[0:1], v[2:3], v[4:5]"}},
      {&CycleConstants::vector_permlane_swap,
       {"v_permlane32_swap_b32 v0, v1", "v_permlane16_swap_b32 v0, v1"}},
      {&CycleConstants::vector_convert_fp8,
       {"v_cvt_pk_fp8_f32 v0, v1, v2", "v_cvt_pk_bf8_f32 v0, v1, v2",
        "v_cvt_sr_fp8_f32 v0, v1, v2",
        "v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3"}},
      {&CycleConstants::vector_convert_int,
       {"v_cvt_pk_u8_f32 v0, v1, 0, v0", "v_cvt_u32_f32 v0, v1",
        "v_cvt_i32_f32 v0, v1", "v_cvt_f32_i32 v0, v1",
        "v_cvt_f32_u32 v0, v1"}},
      {&CycleConstants::vector_wide_multiply,
       {"v_mul_lo_u32 v0, v1, v2", "v_mul_hi_u32 v0, v1, v2",
        "v_mad_u64_u32 v[0:1], vcc, v2, v3, v[4:5]"}},
      {&CycleConstants::vector_move64,
       {"v_mov_b64 v[0:1], v[2:3]", "v_lshl_add_u64 v[0:1], v[2:3], 0, v[4:5]",
        "v_lshlrev_b64 v[0:1], v2, v[4:5]"}},
  };
  for (const Class& one : classes) {
    CycleConstants constants = WarmCode();
    for (const Class& each : classes) {
      constants.*each.field = &each == &one ? 20 : 4;
    }
    for (const Class& each : classes) {
      for (const std::string& text : each.texts) {
        EXPECT_EQ(Clocks(text, constants), &each == &one ? 20u : 4u) << text;
      }
    }
  }
}

// 2.2 and 8: whether v_cvt_pk_fp8_f32 runs beside a matrix instruction is the
// one doubt; v_cvt_scalef32_* does.
TEST(VectorTime, ConversionsBesideMatrix) {
  const std::string matrix =
      "v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[16:19], 0";
  CycleConstants never = WarmCode();
  never.convert_fp8_beside_matrix = 0;
  for (const std::string text : {"v_cvt_pk_fp8_f32 v200, v201, v202",
                                 "v_cvt_pk_bf8_f32 v200, v201, v202"}) {
    EXPECT_EQ(IssuesOf({matrix, text})[1], 8u) << text;
    EXPECT_EQ(IssuesOf({matrix, text}, never)[1], 44u) << text;
  }
  for (const std::string text :
       {"v_cvt_scalef32_pk_fp8_f32 v200, v201, v202, v203",
        "v_cvt_pk_u8_f32 v200, v201, 0, v200", "v_cvt_u32_f32 v200, v201"}) {
    EXPECT_EQ(IssuesOf({matrix, text}, never)[1], 8u) << text;
  }
}

// 8: a three-source instruction that meets an LDS return costs one clock, so
// four of them a slot. The return of a ds_read_b128 lands from 64 to 72.
TEST(VectorTime, ThreeSourcesMeetAnLdsReturn) {
  const auto last = [](const std::string& text, double cost) {
    CycleConstants constants = WarmCode();
    constants.port_three_source_lds = cost;
    Lines lines = Repeat(3, {"ds_read_b128 v[240:243], v0"});
    lines.emplace_back("s_nop 13");  // 3 + 14 slots: up to clock 68
    for (int i = 0; i < 5; ++i) lines.emplace_back(text);
    return IssuesOf(lines, constants).back();
  };
  const std::string three = "v_fma_f32 v10, v11, v12, v13";
  EXPECT_EQ(last(three, 0), 84u);
  EXPECT_EQ(last(three, 1), 88u);  // data lands from 64 to 88: all meet it
  EXPECT_EQ(last(three, 2), 92u);
  EXPECT_EQ(last("v_max3_f32 v10, v11, v12, v13", 1), 88u);
  EXPECT_EQ(last("v_fmac_f32 v10, v11, v12", 1), 88u);
  EXPECT_EQ(last("v_add_f32 v10, v11, v12", 1), 84u);
  EXPECT_EQ(last("v_fma_f32 v10, v11, v12, s0", 1), 84u);
}

TEST(VectorTime, ThreeSourcesUnderMatrix) {
  CycleConstants constants = WarmCode();
  constants.port_three_source_matrix = 0.5;
  Lines lines = {"v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[16:19], 0"};
  for (int i = 0; i < 10; ++i)
    lines.emplace_back("v_fma_f32 v100, v101, v102, v103");
  // Six of them start under it, from 8 to 28: 3 clocks of debt and no slot.
  EXPECT_EQ(IssuesOf(lines, constants).back(), 8u + 9 * 4);
  constants.port_three_source_matrix = 1;
  EXPECT_EQ(IssuesOf(lines, constants).back(), 8u + 9 * 4 + 4);
}

}  // namespace
}  // namespace zyfa::emu

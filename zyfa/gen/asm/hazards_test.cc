// Wait states of each rule against cdna4-isa.md section 5: column D (ISA) and
// column L (LLVM 22's post-RA-hazard-rec on gfx950), which agree unless noted.

#include "zyfa/gen/asm/hazards.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/gen/asm/assembler.h"
#include "zyfa/gen/asm/hazard_rules.h"

namespace zyfa::gen {
namespace {

using ::testing::HasSubstr;

using Emit = std::function<void(Assembler&)>;

KernelSpec Spec() {
  KernelSpec spec;
  spec.name = "k";
  return spec;
}

struct Result {
  int states = 0;         // inserted wait states
  std::set<int> lengths;  // operands of the inserted s_nop
  std::string comment;    // of the last one
};

Result Insert(const Emit& emit) {
  Assembler a(Spec());
  const Stream stream = a.Capture([&] {
    emit(a);
    a.s_endpgm();
  });
  EXPECT_TRUE(a.status().ok()) << a.status();
  std::vector<Instruction> program = stream.instructions();
  const auto blocks = BuildControlFlow(program, a.label_names());
  EXPECT_TRUE(blocks.ok()) << blocks.status();
  InsertWaitStates(program, *blocks);
  Result result;
  for (const Instruction& inst : program) {
    if (!inst.inserted) continue;
    const int n = static_cast<int>(inst.operands[0].imm.bits());
    result.states += n + 1;
    result.lengths.insert(n);
    result.comment = inst.comment;
  }
  return result;
}

struct Pair {
  const char* name;
  Emit first, second;
  int states;
};

void PrintTo(const Pair& pair, std::ostream* os) { *os << pair.name; }

// ---- Producers ----
// 8 passes into v[16:31]; 4 into v[16:19]; 16 into v[16:31].
void Mfma8(Assembler& a) {
  a.v_mfma_f32_32x32x16_bf16(VReg(16, 16), VReg(32, 4), VReg(36, 4),
                             VReg(16, 16));
}
void Mfma4(Assembler& a) {
  a.v_mfma_f32_16x16x32_bf16(VReg(16, 4), VReg(32, 4), VReg(36, 4),
                             VReg(16, 4));
}
void Mfma16(Assembler& a) {
  a.v_mfma_f32_32x32x64_f8f6f4(VReg(16, 16), VReg(32, 8), VReg(40, 8),
                               VReg(16, 16));
}
// 4-bit formats halve the passes: 8.
void MfmaFp4(Assembler& a) {
  a.v_mfma_f32_32x32x64_f8f6f4(VReg(16, 16), VReg(32, 4), VReg(40, 4),
                               VReg(16, 16))
      .formats(MatrixFormat::kFp4E2m1, MatrixFormat::kFp4E2m1);
}
void MfmaScale16(Assembler& a) {
  a.v_mfma_scale_f32_32x32x64_f8f6f4(VReg(16, 16), VReg(32, 8), VReg(40, 8),
                                     VReg(16, 16), VReg(50), VReg(51));
}
void Smfmac4(Assembler& a) {
  a.v_smfmac_f32_16x16x128_fp8_fp8(VReg(16, 4), VReg(32, 4), VReg(40, 8),
                                   VReg(50));
}
// C is v[64:79], D is v[16:31].
void MfmaOtherC(Assembler& a) {
  a.v_mfma_f32_32x32x16_bf16(VReg(16, 16), VReg(32, 4), VReg(36, 4),
                             VReg(64, 16));
}
void MfmaOtherC16(Assembler& a) {
  a.v_mfma_f32_32x32x64_f8f6f4(VReg(16, 16), VReg(32, 8), VReg(40, 8),
                               VReg(64, 16));
}
void Valu(Assembler& a) { a.v_mov_b32(VReg(16), 0); }
void Cmp(Assembler& a) { a.v_cmp_lt_u32(vcc, VReg(1), VReg(2)); }
void CmpS(Assembler& a) { a.v_cmp_lt_u32(SReg(40, 2), VReg(1), VReg(2)); }
void Cmpx(Assembler& a) { a.v_cmpx_lt_u32(vcc, VReg(1), VReg(2)); }
void Exp(Assembler& a) { a.v_exp_f32(VReg(16), VReg(1)); }
void CvtLow(Assembler& a) { a.v_cvt_pk_fp8_f32(VReg(16), VReg(1), VReg(2)); }
void CvtHigh(Assembler& a) {
  a.v_cvt_pk_fp8_f32(VReg(16), VReg(1), VReg(2)).dst_high();
}
void Dot(Assembler& a) {
  a.v_dot2_f32_bf16(VReg(16), VReg(1), VReg(2), VReg(3));
}

// ---- Consumers ----
void ReadV(Assembler& a) { a.v_mov_b32(VReg(60), VReg(16)); }
void WriteV(Assembler& a) { a.v_mov_b32(VReg(16), 0); }
void StoreV(Assembler& a) {
  a.buffer_store_dword(VReg(16), off, SReg(8, 4), 0);
}
void AddressV(Assembler& a) { a.ds_read_b32(VReg(60), VReg(16)); }
void LoadIntoV(Assembler& a) { a.ds_read_b32(VReg(16), VReg(1)); }
void SourceA(Assembler& a) {
  a.v_mfma_f32_16x16x32_bf16(VReg(80, 4), VReg(16, 4), VReg(36, 4), 0);
}
void SourceB(Assembler& a) {
  a.v_mfma_f32_16x16x32_bf16(VReg(80, 4), VReg(36, 4), VReg(16, 4), 0);
}
void AddendOverlapping(Assembler& a) {
  a.v_mfma_f32_16x16x32_bf16(VReg(80, 4), VReg(36, 4), VReg(40, 4),
                             VReg(18, 4));
}
void ScaleV(Assembler& a) {
  a.v_mfma_scale_f32_16x16x128_f8f6f4(VReg(80, 4), VReg(32, 8), VReg(40, 8), 0,
                                      VReg(16), VReg(51));
}
void IndexV(Assembler& a) {
  a.v_smfmac_f32_16x16x128_fp8_fp8(VReg(80, 4), VReg(32, 4), VReg(40, 8),
                                   VReg(16));
}

const Pair kPairs[] = {
    // 5.1, D = L: 4/8/16 passes 8/12/20.
    {"mfma4_valu_read", Mfma4, ReadV, 8},
    {"mfma8_valu_read", Mfma8, ReadV, 12},
    {"mfma16_valu_read", Mfma16, ReadV, 20},
    {"mfma_fp4_valu_read", MfmaFp4, ReadV, 12},
    {"mfma_scale16_valu_read", MfmaScale16, ReadV, 20},
    {"smfmac4_valu_read", Smfmac4, ReadV, 8},
    {"mfma8_valu_write", Mfma8, WriteV, 12},
    {"mfma8_store", Mfma8, StoreV, 12},
    {"mfma16_lds_address", Mfma16, AddressV, 20},
    {"mfma16_load_over", Mfma16, LoadIntoV, 20},
    {"mfma4_source_a", Mfma4, SourceA, 8},
    {"mfma8_source_b", Mfma8, SourceB, 12},
    {"mfma16_scale", Mfma16, ScaleV, 20},
    {"mfma16_index", Mfma16, IndexV, 20},
    // Same registers as addend: 0 from 4 passes on.
    {"mfma8_same_addend", Mfma8, Mfma8, 0},
    {"mfma16_same_addend", Mfma16, Mfma16, 0},
    {"mfma8_then_mfma16_same_addend", Mfma8, Mfma16, 0},
    {"smfmac_chain", Smfmac4, Smfmac4, 0},
    // Overlapping addend: 6/10/18.
    {"mfma4_overlapping_addend", Mfma4, AddendOverlapping, 6},
    {"mfma8_overlapping_addend", Mfma8, AddendOverlapping, 10},
    {"mfma16_overlapping_addend", Mfma16, AddendOverlapping, 18},
    // Overwritten addend: 7/15.
    {"mfma8_addend_overwritten", MfmaOtherC,
     [](Assembler& a) { a.v_mov_b32(VReg(70), 0); }, 7},
    {"mfma16_addend_overwritten", MfmaOtherC16,
     [](Assembler& a) { a.v_mov_b32(VReg(70), 0); }, 15},
    {"mfma8_addend_loaded_over", MfmaOtherC,
     [](Assembler& a) { a.ds_read_b32(VReg(70), VReg(1)); }, 7},
    // Sources may be overwritten at once.
    {"mfma8_source_overwritten", Mfma8,
     [](Assembler& a) { a.v_mov_b32(VReg(33), 0); }, 0},
    {"valu_mfma_a", Valu, SourceA, 2},
    {"valu_mfma_c", Valu, Mfma8, 2},
    {"valu_mfma_scale", Valu, ScaleV, 2},
    {"accvgpr_write_mfma",
     [](Assembler& a) { a.v_accvgpr_write_b32(AReg(17), 0); },
     [](Assembler& a) {
       a.v_mfma_f32_16x16x32_bf16(AReg(16, 4), VReg(32, 4), VReg(36, 4),
                                  AReg(16, 4));
     },
     2},
    {"mfma4_accvgpr_read",
     [](Assembler& a) {
       a.v_mfma_f32_16x16x32_bf16(AReg(16, 4), VReg(32, 4), VReg(36, 4), 0);
     },
     [](Assembler& a) { a.v_accvgpr_read_b32(VReg(60), AReg(16)); }, 8},
    {"mfma4_permlane", Mfma4,
     [](Assembler& a) { a.v_permlane32_swap_b32(VReg(16), VReg(60)); }, 8},
    // Two products into the same registers finish in order.
    {"mfma_overwrites_mfma", MfmaOtherC16, MfmaOtherC, 0},
    {"exp_mfma", Exp, SourceA, 2},
    {"cmpx_mfma", Cmpx, SourceA, 4},
    {"dot_other", Dot, ReadV, 3},
    {"dot_store", Dot, StoreV, 3},
    {"dot_same_factor", Dot,
     [](Assembler& a) {
       a.v_dot2_f32_bf16(VReg(60), VReg(16), VReg(2), VReg(3));
     },
     3},
    {"dot_same_addend", Dot,
     [](Assembler& a) {
       a.v_dot2_f32_bf16(VReg(16), VReg(1), VReg(2), VReg(16));
     },
     0},
    // 5.2.
    {"exp_valu", Exp, ReadV, 1},
    {"exp_exp", Exp, [](Assembler& a) { a.v_rcp_f32(VReg(60), VReg(16)); }, 0},
    {"exp_store", Exp, StoreV, 0},
    {"placed_valu", CvtHigh, ReadV, 1},
    {"placed_low_again", CvtHigh, CvtLow, 1},
    {"low_then_high", CvtLow, CvtHigh, 0},
    {"byte3_valu",
     [](Assembler& a) {
       a.v_cvt_sr_fp8_f32(VReg(16), VReg(1), VReg(2)).dst_byte(3);
     },
     ReadV, 1},
    {"byte0_valu",
     [](Assembler& a) {
       a.v_cvt_sr_fp8_f32(VReg(16), VReg(1), VReg(2)).dst_byte(0);
     },
     ReadV, 0},
    // D only: its note on partial writes of the scaled conversions.
    {"scaled_low_then_high",
     [](Assembler& a) {
       a.v_cvt_scalef32_pk_fp8_f32(VReg(16), VReg(1), VReg(2), VReg(3));
     },
     [](Assembler& a) {
       a.v_cvt_scalef32_pk_fp8_f32(VReg(16), VReg(1), VReg(2), VReg(3))
           .dst_high();
     },
     1},
    {"valu_permlane", Valu,
     [](Assembler& a) { a.v_permlane32_swap_b32(VReg(60), VReg(16)); }, 2},
    {"permlane_permlane",
     [](Assembler& a) { a.v_permlane32_swap_b32(VReg(60), VReg(16)); },
     [](Assembler& a) { a.v_permlane16_swap_b32(VReg(16), VReg(61)); }, 2},
    {"cmpx_permlane", Cmpx,
     [](Assembler& a) { a.v_permlane32_swap_b32(VReg(60), VReg(16)); }, 4},
    {"valu_dpp", Valu,
     [](Assembler& a) {
       a.v_mov_b32_dpp(VReg(60), VReg(16), Dpp::RowMirror());
     },
     2},
    {"cmpx_dpp", Cmpx,
     [](Assembler& a) {
       a.v_mov_b32_dpp(VReg(60), VReg(16), Dpp::RowMirror());
     },
     5},
    {"valu_readlane", Valu,
     [](Assembler& a) { a.v_readlane_b32(SReg(40), VReg(16), 3); }, 1},
    {"valu_readfirstlane", Valu,
     [](Assembler& a) { a.v_readfirstlane_b32(SReg(40), VReg(16)); }, 1},
    {"cmp_constant", CmpS,
     [](Assembler& a) { a.v_mov_b32(VReg(60), SReg(41)); }, 2},
    {"cmp_vcc_constant", Cmp,
     [](Assembler& a) { a.v_mov_b32(VReg(60), vcc_lo); }, 2},
    {"readfirstlane_constant",
     [](Assembler& a) { a.v_readfirstlane_b32(SReg(40), VReg(1)); },
     [](Assembler& a) { a.v_add_f32(VReg(60), SReg(40), VReg(2)); }, 2},
    // D: 0 as mask or carry; L has a conservative 2.
    {"cmp_mask", Cmp,
     [](Assembler& a) { a.v_cndmask_b32(VReg(60), VReg(1), VReg(2), vcc); }, 0},
    {"carry",
     [](Assembler& a) { a.v_add_co_u32(VReg(60), vcc, VReg(1), VReg(2)); },
     [](Assembler& a) {
       a.v_addc_co_u32(VReg(61), vcc, VReg(1), VReg(2), vcc);
     },
     0},
    {"cmp_lane_select", CmpS,
     [](Assembler& a) { a.v_readlane_b32(SReg(50), VReg(1), SReg(40)); }, 4},
    {"cmp_writelane_select", CmpS,
     [](Assembler& a) { a.v_writelane_b32(VReg(60), 1, SReg(40)); }, 4},
    {"cmpx_exec_constant", Cmpx,
     [](Assembler& a) { a.v_mov_b32(VReg(60), exec_lo); }, 2},
    {"cmpx_readlane", Cmpx,
     [](Assembler& a) { a.v_readlane_b32(SReg(50), VReg(1), 0); }, 4},
    {"cmpx_valu", Cmpx, ReadV, 0},
    {"readfirstlane_soffset",
     [](Assembler& a) { a.v_readfirstlane_b32(SReg(40), VReg(1)); },
     [](Assembler& a) {
       a.buffer_load_dword(VReg(60), off, SReg(8, 4), SReg(40));
     },
     5},
    {"readfirstlane_base",
     [](Assembler& a) { a.v_readfirstlane_b32(SReg(40), VReg(1)); },
     [](Assembler& a) { a.global_load_dword(VReg(60), VReg(1), SReg(40, 2)); },
     5},
    {"readfirstlane_smem",
     [](Assembler& a) { a.v_readfirstlane_b32(SReg(40), VReg(1)); },
     [](Assembler& a) { a.s_load_dword(SReg(50), SReg(40, 2), 0); }, 0},
    {"readfirstlane_salu",
     [](Assembler& a) { a.v_readfirstlane_b32(SReg(40), VReg(1)); },
     [](Assembler& a) { a.s_mov_b32(SReg(50), SReg(40)); }, 0},
    {"m0_buffer_lds", [](Assembler& a) { a.s_mov_b32(m0, 0); },
     [](Assembler& a) { a.buffer_load_dword_lds(VReg(1), SReg(8, 4), 0); }, 1},
    {"m0_global_lds", [](Assembler& a) { a.s_add_u32(m0, m0, 64); },
     [](Assembler& a) { a.global_load_lds_dword(VReg(2, 2), off); }, 1},
    {"m0_buffer", [](Assembler& a) { a.s_mov_b32(m0, 0); },
     [](Assembler& a) { a.buffer_load_dword(VReg(1), off, SReg(8, 4), 0); }, 0},
    {"setreg_getreg",
     [](Assembler& a) { a.s_setreg_imm32_b32(HwReg::kMode, 4, 2, 3); },
     [](Assembler& a) { a.s_getreg_b32(SReg(40), HwReg::kMode, 0, 32); }, 2},
    {"setreg_valu",
     [](Assembler& a) { a.s_setreg_imm32_b32(HwReg::kMode, 4, 2, 3); }, ReadV,
     0},
    {"wide_store_valu",
     [](Assembler& a) {
       a.buffer_store_dwordx4(VReg(16, 4), off, SReg(8, 4), 0);
     },
     WriteV, 2},
    {"wide_store_load",
     [](Assembler& a) { a.global_store_dwordx3(VReg(2, 2), VReg(16, 3), off); },
     LoadIntoV, 1},
    {"wide_store_with_sgpr_offset",
     [](Assembler& a) {
       a.buffer_store_dwordx4(VReg(16, 4), off, SReg(8, 4), SReg(40));
     },
     WriteV, 0},
    {"narrow_store",
     [](Assembler& a) {
       a.buffer_store_dwordx2(VReg(16, 2), off, SReg(8, 4), 0);
     },
     WriteV, 0},
    {"lds_write", [](Assembler& a) { a.ds_write_b128(VReg(1), VReg(16, 4)); },
     WriteV, 0},
    // Interlocked.
    {"valu_valu", Valu, ReadV, 0},
    {"valu_store", Valu, StoreV, 0},
    {"valu_lds_address", Valu, AddressV, 0},
    {"cmp_branch", Cmp,
     [](Assembler& a) {
       Label end = a.NewLabel("end");
       a.s_cbranch_vccnz(end);
       a.Bind(end);
     },
     0},
};

class HazardPairTest : public ::testing::TestWithParam<Pair> {};

TEST_P(HazardPairTest, StatesOfTheIsa) {
  const Pair& pair = GetParam();
  EXPECT_EQ(Insert([&](Assembler& a) {
              pair.first(a);
              pair.second(a);
            }).states,
            pair.states);
}

// Whatever stands between counts: one less for each.
TEST_P(HazardPairTest, InstructionsBetweenCount) {
  const Pair& pair = GetParam();
  if (pair.states == 0) return;
  EXPECT_EQ(Insert([&](Assembler& a) {
              pair.first(a);
              a.s_setprio(1);
              pair.second(a);
            }).states,
            pair.states - 1);
  EXPECT_EQ(Insert([&](Assembler& a) {
              pair.first(a);
              for (int i = 0; i < pair.states; ++i) a.s_setprio(1);
              pair.second(a);
            }).states,
            0);
}

INSTANTIATE_TEST_SUITE_P(Isa, HazardPairTest, ::testing::ValuesIn(kPairs),
                         [](const ::testing::TestParamInfo<Pair>& i) {
                           return i.param.name;
                         });

TEST(HazardsTest, EveryRuleIsExercised) {
  std::set<std::string> seen;
  for (const Pair& pair : kPairs) {
    if (pair.states == 0) continue;
    seen.insert(Insert([&](Assembler& a) {
                  pair.first(a);
                  pair.second(a);
                }).comment);
  }
  for (const HazardRule& rule : HazardRules()) {
    // No 2-pass instruction is in the table, so this one never needs a wait.
    if (std::string(rule.name) == "MFMA result -> same MFMA addend") continue;
    EXPECT_TRUE(seen.count(std::string("wait: ") + rule.name)) << rule.name;
  }
}

TEST(HazardsTest, LongWaitsAreSplitAndExplained) {
  const Result result = Insert([](Assembler& a) {
    Mfma16(a);
    ReadV(a);
  });
  EXPECT_EQ(result.states, 20);
  EXPECT_EQ(result.lengths, (std::set<int>{15, 3}));
  EXPECT_EQ(result.comment, "wait: MFMA result -> VALU");
}

TEST(HazardsTest, ExplicitNopsCount) {
  EXPECT_EQ(Insert([](Assembler& a) {
              Mfma8(a);
              a.s_nop(7);
              ReadV(a);
            }).states,
            4);
}

TEST(HazardsTest, JoinTakesTheNearestProducer) {
  EXPECT_EQ(Insert([](Assembler& a) {
              Label join = a.NewLabel("join");
              Mfma8(a);
              a.s_cbranch_scc1(join);  // 1 state
              for (int i = 0; i < 5; ++i) a.s_setprio(1);
              a.Bind(join);
              ReadV(a);
            }).states,
            11);
}

TEST(HazardsTest, LoopBackEdge) {
  // The product at the bottom is read at the top of the next round.
  EXPECT_EQ(Insert([](Assembler& a) {
              Label loop = a.NewLabel("loop");
              a.v_mov_b32(VReg(16), 0);
              a.Bind(loop);
              ReadV(a);
              Mfma8(a);
              a.s_cbranch_scc1(loop);  // 1 state
            }).states,
            11);
}

TEST(HazardsTest, UnreachableCodeIsLeftAlone) {
  EXPECT_EQ(Insert([](Assembler& a) {
              Label end = a.NewLabel("end");
              a.s_branch(end);
              Mfma8(a);
              ReadV(a);
              a.Bind(end);
            }).states,
            0);
}

}  // namespace
}  // namespace zyfa::gen

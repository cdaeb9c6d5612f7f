// Undefined bits must not matter: whatever stands in their place, all that
// changes is what the tracking calls undefined. Tried on an instruction of
// every mnemonic.

#include "zyfa/emu/strict/alu_propagation.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/disassembly_text.h"
#include "zyfa/emu/scalar_alu.h"
#include "zyfa/emu/vector/handler_table.h"
#include "zyfa/emu/vector/testing.h"

namespace zyfa::emu {
namespace {

using testing::Random;

bool IsVector(const Operand& operand) {
  return operand.kind == OperandKind::kVgpr ||
         operand.kind == OperandKind::kAgpr;
}

void AddRange(const Operand& operand, bool write, Instruction& inst) {
  const bool vector = IsVector(operand);
  if (!vector && (operand.kind != OperandKind::kScalar || operand.index > 127))
    return;
  RegisterRange range;
  range.vector = vector;
  range.write = write;
  range.first =
      static_cast<uint16_t>(vector ? Wave::Row(operand) : operand.index);
  range.count = operand.count;
  inst.registers.push_back(range);
}

// The register sets that a decoder would give. Destinations count as read, too.
void AddRegisters(size_t destinations, Instruction& inst) {
  for (const Operand& operand : inst.operands) AddRange(operand, false, inst);
  if (inst.mnemonic.compare(0, 10, "v_div_fmas") == 0) {
    Operand vcc;
    vcc.kind = OperandKind::kScalar;
    vcc.index = kVccLo;
    vcc.count = 2;
    AddRange(vcc, false, inst);
  }
  for (size_t i = 0; i < destinations && i < inst.operands.size(); ++i) {
    AddRange(inst.operands[i], true, inst);
  }
}

// Words of every kind: patterns of numbers, of few bits, of none.
uint32_t RandomMask(Random& random, int kind) {
  switch (kind) {
    case 0:
      return 0;
    case 1:
      return ~0u;
    case 2:
      return random.Next32();
    case 3:
      return random.Next32() % 4 == 0 ? ~0u : 0;
    case 4:
      return random.Next32() % 2 == 0 ? 0xffff0000 : 0xffff;
    default:
      return 0xffu << random.Between(0, 24);
  }
}

struct State {
  std::unique_ptr<Wave> wave = std::make_unique<Wave>();
  std::unique_ptr<WaveShadow> shadow = std::make_unique<WaveShadow>();
};

// Random registers near what `inst` names, some of them undefined.
void Randomise(const Instruction& inst, Random& random, State& state) {
  Wave& wave = *state.wave;
  WaveShadow& shadow = *state.shadow;
  wave.exec = random.Next32() % 2 == 0 ? ~uint64_t{0} : random.Next64();
  wave.mode.bits = testing::kModeDenormF32 | testing::kModeDenormF16F64;
  wave.scc = random.Next32() % 2 == 0;
  shadow.scc = random.Next32() % 4 == 0;
  for (const RegisterRange& range : inst.registers) {
    if (range.write) continue;  // read as well
    for (int r = range.first; r < range.first + range.count; ++r) {
      const int kind = random.Between(0, 7);
      if (range.vector) {
        for (int l = 0; l < kLanes; ++l) {
          wave.vgpr[r][l] = random.FloatBits();
          shadow.vgpr[r][l] = RandomMask(random, kind > 5 ? 0 : kind);
        }
        shadow.Recount(r);
      } else if (r < kExecLo) {
        wave.sgpr[r] = random.FloatBits();
        shadow.sgpr[r] = RandomMask(random, kind > 5 ? 0 : kind);
      }
    }
  }
}

// Runs the instruction with other values in the place of the undefined bits.
void Refill(const Instruction& inst, const State& start, Random& random,
            Wave& wave) {
  wave = *start.wave;
  const auto refill = [&random](uint32_t& word, uint32_t undefined) {
    if (undefined == 0) return;
    const uint32_t other =
        random.Next32() % 2 == 0 ? random.FloatBits() : random.Next32() >> 24;
    word = (word & ~undefined) | (other & undefined);
  };
  const WaveShadow& shadow = *start.shadow;
  for (const RegisterRange& range : inst.registers) {
    for (int r = range.first; r < range.first + range.count; ++r) {
      if (range.vector) {
        for (int l = 0; l < kLanes; ++l) {
          refill(wave.vgpr[r][l], shadow.vgpr[r][l]);
        }
      } else {
        refill(wave.sgpr[r], shadow.sgpr[r]);
      }
    }
  }
  if (shadow.scc) wave.scc = random.Next32() % 2 == 0;
  inst.handler(inst, wave);
}

// What differs between two waves though `shadow` calls it defined, "" if
// nothing does.
std::string Undeclared(const Instruction& inst, const Wave& a, const Wave& b,
                       const WaveShadow& shadow, uint64_t exec) {
  for (const RegisterRange& range : inst.registers) {
    if (!range.write) continue;
    for (int r = range.first; r < range.first + range.count; ++r) {
      if (!range.vector) {
        if (r < kExecLo && ((a.sgpr[r] ^ b.sgpr[r]) & ~shadow.sgpr[r]) != 0) {
          return "s" + std::to_string(r);
        }
        continue;
      }
      for (int l = 0; l < kLanes; ++l) {
        if (((a.vgpr[r][l] ^ b.vgpr[r][l]) & ~shadow.vgpr[r][l]) != 0) {
          return "v" + std::to_string(r) + " lane " + std::to_string(l);
        }
      }
    }
  }
  if (((a.exec ^ b.exec) & ~exec) != 0) return "exec";
  // A reported EXEC counts as defined, and so does what follows from it.
  if (a.scc != b.scc && !shadow.scc && exec == 0) return "scc";
  return "";
}

class NonInterference {
 public:
  // Rounds of one instruction; the number of undeclared differences.
  int Try(const Instruction& inst, int rounds, uint64_t seed) {
    const AluStep step = PrepareAlu(inst);
    Random random(seed);
    int failures = 0;
    for (int round = 0; round < rounds; ++round) {
      State start;
      Randomise(inst, random, start);
      WaveShadow after = *start.shadow;
      uint64_t exec = 0;
      if (AluPropagation::Concerns(step, *start.wave, after)) {
        exec = alu_.Run(step, *start.wave, after);
      }
      Refill(inst, start, random, *one_);
      for (int trial = 0; trial < 4; ++trial) {
        Refill(inst, start, random, *two_);
        last_ = Undeclared(inst, *one_, *two_, after, exec);
        if (!last_.empty()) {
          where_ = inst.text + ": " + last_;
          ++failures;
          break;
        }
      }
    }
    return failures;
  }
  const std::string& where() const { return where_; }

 private:
  AluPropagation alu_;
  std::unique_ptr<Wave> one_ = std::make_unique<Wave>();
  std::unique_ptr<Wave> two_ = std::make_unique<Wave>();
  std::string last_, where_;
};

TEST(AluPropagation, VectorInstructionsDoNotLeak) {
  valu::HandlerTable table;
  valu_baseline::AddAllOps(table);
  NonInterference test;
  int checked = 0;
  for (const auto& [name, entry] : table.entries()) {
    // Their shapes are below: several registers a source or result.
    if (name.find("64") != std::string::npos && name.find("v_mfma") != 0 &&
        name.find("v_smfmac") != 0) {
      continue;
    }
    if (name.find("v_cvt_scalef32_") == 0 || name.find("v_cvt_pk_f32_") == 0) {
      continue;
    }
    // A lane's number is reported, not followed.
    if (name == "v_readlane_b32" || name == "v_writelane_b32") continue;
    if (name == "v_nop" || name == "v_clrexcp") continue;
    const bool matrix = name.find("mfma") != std::string::npos ||
                        name.find("smfmac") != std::string::npos;
    for (const std::string& text : testing::OperandShapes(name)) {
      Instruction inst = testing::Assemble(text);
      if (inst.handler == nullptr) continue;
      const bool two_results =
          (inst.operands.size() > 1 &&
           (name.find("_co_") != std::string::npos ||
            name.find("v_mad_u64_") == 0 || name.find("v_mad_i64_") == 0 ||
            name.find("v_div_scale_") == 0 || name == "v_swap_b32" ||
            name.find("v_permlane") == 0));
      AddRegisters(two_results ? 2 : 1, inst);
      EXPECT_EQ(test.Try(inst, matrix ? 2 : 12, 1), 0) << test.where();
      ++checked;
      break;
    }
  }
  EXPECT_GT(checked, 250);
}

TEST(AluPropagation, SelectedHalvesBytesAndLanesDoNotLeak) {
  NonInterference test;
  for (const char* text :
       {"v_writelane_b32 v8, s40, 5",
        "v_mov_b32_dpp v8, v40 row_shl:3 row_mask:0xf bank_mask:0x5",
        "v_add_f32_dpp v8, v40, v80 row_ror:5 row_mask:0x3 bank_mask:0xf",
        "v_add_u32_sdwa v8, v40, v80 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE "
        "src0_sel:WORD_1 src1_sel:BYTE_3",
        "v_lshlrev_b32_sdwa v8, v40, v80 dst_sel:DWORD dst_unused:UNUSED_PAD "
        "src0_sel:BYTE_2 src1_sel:WORD_1",
        "v_cmp_lt_u32_sdwa vcc, v40, v80 src0_sel:BYTE_1 src1_sel:WORD_1",
        "v_pk_add_f16 v8, v40, v80 op_sel:[1,0] op_sel_hi:[0,1]",
        "v_pk_fma_f32 v[8:9], v[40:41], v[80:81], v[120:121] op_sel:[1,0,0] "
        "op_sel_hi:[0,1,1]",
        "v_pk_mov_b32 v[8:9], v[40:41], v[80:81] op_sel:[1,0]",
        "v_cvt_pk_fp8_f32 v8, v40, v80 op_sel:[0,0,1]",
        "v_fma_mixhi_f16 v8, v40, v80, v120 op_sel:[1,0,0] op_sel_hi:[1,1,1]",
        "v_mad_u16 v8, v40, v80, v120 op_sel:[1,0,0,1]",
        "v_add_u32 v8, v40, v80 clamp",
        "v_add_f32 v8, -v40, |v80| mul:2",
        "v_bitop3_b32 v8, v40, v80, v120 bitop3:0x96",
        "v_bitop3_b32 v8, v40, v80, v120 bitop3:0xe8",
        "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[40:41], v[80:81], v[120:123] "
        "cbsz:2 abid:1 blgp:3",
        "v_mfma_scale_f32_16x16x128_f8f6f4 v[8:11], v[40:45], v[80:83], "
        "v[120:123], v160, v161 op_sel:[1,0,0] op_sel_hi:[0,1,0] cbsz:2 blgp:4",
        "v_mfma_f64_16x16x4_f64 v[8:15], v[40:41], v[80:81], v[120:127]",
        "v_mov_b64 v[8:9], v[40:41]",
        "v_add_f64 v[8:9], v[40:41], v[80:81]",
        "v_fma_f64 v[8:9], v[40:41], v[80:81], v[120:121]",
        "v_max_f64 v[8:9], v[40:41], v[80:81]",
        "v_ldexp_f64 v[8:9], v[40:41], v80",
        "v_floor_f64 v[8:9], v[40:41]",
        "v_cvt_f64_f32 v[8:9], v40",
        "v_cvt_f32_f64 v8, v[40:41]",
        "v_cvt_i32_f64 v8, v[40:41]",
        "v_frexp_exp_i32_f64 v8, v[40:41]",
        "v_div_fixup_f64 v[8:9], v[40:41], v[80:81], v[120:121]",
        "v_div_fmas_f64 v[8:9], v[40:41], v[80:81], v[120:121]",
        "v_trig_preop_f64 v[8:9], v[40:41], v80",
        "v_lshlrev_b64 v[8:9], v40, v[80:81]",
        "v_ashrrev_i64 v[8:9], 7, v[80:81]",
        "v_lshl_add_u64 v[8:9], v[40:41], 3, v[80:81]",
        "v_cmp_lt_f64 vcc, v[40:41], v[80:81]",
        "v_cmp_class_f64 s[10:11], v[40:41], v80",
        "v_cmpx_eq_u64 vcc, v[40:41], v[80:81]",
        "v_qsad_pk_u16_u8 v[8:9], v[40:41], v80, v[120:121]",
        "v_cvt_pk_f32_fp8 v[8:9], v40",
        "v_cvt_pk_f32_bf8_sdwa v[8:9], v40 src0_sel:WORD_1",
        "v_cvt_scalef32_pk_fp8_f32 v8, v40, v80, v120 op_sel:[0,0,0,1]",
        "v_cvt_scalef32_pk_fp8_bf16 v8, v40, v80",
        "v_cvt_scalef32_pk_fp4_f32 v8, v40, v80, v120 op_sel:[0,0,1,1]",
        "v_cvt_scalef32_pk_fp4_f16 v8, v40, v80 op_sel:[0,0,1,0]",
        "v_cvt_scalef32_sr_fp8_f16 v8, v40, v80, v120 op_sel:[0,0,1,0]",
        "v_cvt_scalef32_pk_f32_fp8 v[8:9], v40, v80 op_sel:[1,0,0]",
        "v_cvt_scalef32_pk_bf16_fp4 v8, v40, v80 op_sel:[1,0,0]",
        "v_cvt_scalef32_f16_bf8 v8, v40, v80 op_sel:[1,0,1]",
        "v_cvt_scalef32_f32_fp8 v8, v40, v80 op_sel:[0,1,0]",
        "v_cvt_scalef32_pk32_bf6_f16 v[8:13], v[40:55], v80",
        "v_cvt_scalef32_2xpk16_fp6_f32 v[8:13], v[40:55], v[80:95], v120",
        "v_cvt_scalef32_sr_pk32_fp6_bf16 v[8:13], v[40:55], v80, v120",
        "v_cvt_scalef32_pk32_f32_bf6 v[8:39], v[40:45], v80"}) {
    Instruction inst = testing::Assemble(text);
    ASSERT_NE(inst.handler, nullptr) << text;
    AddRegisters(1, inst);
    EXPECT_EQ(test.Try(inst, 12, 2), 0) << test.where();
  }
}

Instruction Scalar(const std::string& text) {
  Instruction inst;
  inst.text = text;
  inst.size = 4;
  inst.understood = ParseDisassembly(0, inst);
  inst.handler = FindScalarAluHandler(inst);
  EXPECT_NE(inst.handler, nullptr) << text;
  return inst;
}

const std::map<std::string, std::vector<std::string>>& ScalarMnemonics() {
  static const auto* const names =
      new std::map<std::string, std::vector<std::string>>{
          {" s8, s10, s12",
           {"s_add_u32",         "s_addc_u32",        "s_sub_u32",
            "s_subb_u32",        "s_add_i32",         "s_sub_i32",
            "s_lshl1_add_u32",   "s_lshl2_add_u32",   "s_lshl3_add_u32",
            "s_lshl4_add_u32",   "s_min_i32",         "s_min_u32",
            "s_max_i32",         "s_max_u32",         "s_mul_i32",
            "s_mul_hi_u32",      "s_mul_hi_i32",      "s_absdiff_i32",
            "s_and_b32",         "s_or_b32",          "s_xor_b32",
            "s_andn2_b32",       "s_orn2_b32",        "s_nand_b32",
            "s_nor_b32",         "s_xnor_b32",        "s_cselect_b32",
            "s_lshl_b32",        "s_lshr_b32",        "s_ashr_i32",
            "s_bfe_u32",         "s_bfe_i32",         "s_bfm_b32",
            "s_pack_ll_b32_b16", "s_pack_lh_b32_b16", "s_pack_hh_b32_b16"}},
          {" s[8:9], s[10:11], s[12:13]",
           {"s_and_b64", "s_or_b64", "s_xor_b64", "s_andn2_b64", "s_orn2_b64",
            "s_nand_b64", "s_nor_b64", "s_xnor_b64", "s_cselect_b64"}},
          {" s[8:9], s[10:11], s12",
           {"s_lshl_b64", "s_lshr_b64", "s_ashr_i64", "s_bfe_u64",
            "s_bfe_i64"}},
          {" s[8:9], s10, s12", {"s_bfm_b64"}},
          {" s8, s10",
           {"s_abs_i32", "s_sext_i32_i8", "s_sext_i32_i16", "s_mov_b32",
            "s_not_b32", "s_cmov_b32", "s_brev_b32", "s_wqm_b32",
            "s_quadmask_b32", "s_bcnt0_i32_b32", "s_bcnt1_i32_b32",
            "s_ff0_i32_b32", "s_ff1_i32_b32", "s_flbit_i32_b32", "s_flbit_i32",
            "s_bitset0_b32", "s_bitset1_b32"}},
          {" s[8:9], s[10:11]",
           {"s_mov_b64", "s_not_b64", "s_cmov_b64", "s_brev_b64", "s_wqm_b64",
            "s_quadmask_b64", "s_and_saveexec_b64", "s_or_saveexec_b64",
            "s_xor_saveexec_b64", "s_andn2_saveexec_b64", "s_orn2_saveexec_b64",
            "s_nand_saveexec_b64", "s_nor_saveexec_b64", "s_xnor_saveexec_b64",
            "s_andn1_saveexec_b64", "s_orn1_saveexec_b64", "s_andn1_wrexec_b64",
            "s_andn2_wrexec_b64"}},
          {" s8, s[10:11]",
           {"s_bcnt0_i32_b64", "s_bcnt1_i32_b64", "s_ff0_i32_b64",
            "s_ff1_i32_b64", "s_flbit_i32_b64", "s_flbit_i32_i64"}},
          {" s[8:9], s10",
           {"s_bitreplicate_b64_b32", "s_bitset0_b64", "s_bitset1_b64"}},
          {" s8, 0x1234",
           {"s_movk_i32", "s_cmovk_i32", "s_addk_i32", "s_mulk_i32"}}};
  return *names;
}
const std::vector<std::string>& ScalarComparisons() {
  static const auto* const texts = new std::vector<std::string>{
      "s_cmp_eq_i32 s8, s10",          "s_cmp_lg_i32 s8, s10",
      "s_cmp_gt_i32 s8, s10",          "s_cmp_ge_i32 s8, s10",
      "s_cmp_lt_i32 s8, s10",          "s_cmp_le_i32 s8, s10",
      "s_cmp_eq_u32 s8, s10",          "s_cmp_lg_u32 s8, s10",
      "s_cmp_gt_u32 s8, s10",          "s_cmp_ge_u32 s8, s10",
      "s_cmp_lt_u32 s8, s10",          "s_cmp_le_u32 s8, s10",
      "s_cmpk_eq_i32 s8, 0x12",        "s_cmpk_lg_u32 s8, 0x12",
      "s_cmpk_gt_i32 s8, 0x12",        "s_cmpk_le_u32 s8, 0x12",
      "s_cmp_eq_u64 s[8:9], s[10:11]", "s_cmp_lg_u64 s[8:9], s[10:11]",
      "s_bitcmp0_b32 s8, s10",         "s_bitcmp1_b32 s8, 5",
      "s_bitcmp0_b64 s[8:9], s10",     "s_bitcmp1_b64 s[8:9], 40"};
  return *texts;
}

TEST(AluPropagation, ScalarInstructionsDoNotLeak) {
  NonInterference test;
  for (const auto& [operands, names] : ScalarMnemonics()) {
    for (const std::string& name : names) {
      Instruction inst = Scalar(name + operands);
      AddRegisters(1, inst);
      EXPECT_EQ(test.Try(inst, 60, 3), 0) << test.where();
    }
  }
  for (const std::string& text : ScalarComparisons()) {
    Instruction inst = Scalar(text);
    AddRegisters(0, inst);
    EXPECT_EQ(test.Try(inst, 60, 4), 0) << test.where();
  }
}

// Whether an instruction writes or reads SCC, by what its handler does.
TEST(AluPropagation, SccIsReadAndWrittenAsTheTablesSay) {
  std::vector<Instruction> all;
  for (const auto& [operands, names] : ScalarMnemonics()) {
    for (const std::string& name : names)
      all.push_back(Scalar(name + operands));
  }
  for (const std::string& text : ScalarComparisons()) {
    all.push_back(Scalar(text));
  }
  for (const Instruction& inst : all) {
    auto start = std::make_unique<Wave>(), zero = std::make_unique<Wave>(),
         one = std::make_unique<Wave>();
    Random random(5);
    bool kept = true, reads = false;
    for (int round = 0; round < 50; ++round) {
      for (uint32_t& word : start->sgpr) {
        word = random.Next32() % 3 == 0 ? 0 : random.FloatBits();
      }
      start->exec = random.Next64();
      *zero = *start;
      *one = *start;
      zero->scc = false;
      one->scc = true;
      inst.handler(inst, *zero);
      inst.handler(inst, *one);
      kept &= !zero->scc && one->scc;
      reads |= std::memcmp(zero->sgpr, one->sgpr, sizeof(zero->sgpr)) != 0;
    }
    EXPECT_EQ(SccRuleOf(inst.mnemonic) == SccRule::kKept, kept) << inst.text;
    EXPECT_EQ(ReadsScc(inst), reads) << inst.text;
  }
}

}  // namespace
}  // namespace zyfa::emu

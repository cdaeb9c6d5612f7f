#include "zyfa/emu/strict/undefined_values.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

// The findings of rule "undefined-value" of one wave of a kernel of
// undefined.s.
std::vector<Finding> Findings(const std::string& kernel,
                              const std::vector<Edit>& edits = {}) {
  static TestDevice& device = *new TestDevice("undefined");
  const uint64_t out = device.Upload(std::vector<uint32_t>(1024));
  const uint64_t in = device.Upload(std::vector<uint32_t>(1024));
  RunOptions options;
  options.strict = true;
  options.edits = edits;
  auto report = device.Run(
      kernel, Shape(1, 64),
      Kernarg().Add(out).Add(in).Add(uint32_t{0}).Add(uint32_t{0}), options);
  std::vector<Finding> findings;
  if (!report.ok()) {
    ADD_FAILURE() << kernel << ": " << report.status();
    return findings;
  }
  for (const Finding& finding : report->findings) {
    // Other rules have tests of their own.
    if (finding.rule == "undefined-value") findings.push_back(finding);
    EXPECT_NE(finding.rule, "unsupported-instruction") << finding.disassembly;
    if (!edits.empty()) continue;
    EXPECT_NE(finding.rule, "out-of-range") << finding.disassembly;
    EXPECT_NE(finding.rule, "waitcnt") << finding.disassembly;
  }
  return findings;
}

// Registers, lane and undefined bits of each finding.
std::string Text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings) {
    const size_t at = f.detail.find("bits ") + 5;
    absl::StrAppendFormat(&text, "%s%s lane %d %s", text.empty() ? "" : ", ",
                          f.registers, f.lane,
                          f.detail.substr(at, f.detail.find(" of ") - at));
  }
  return text;
}

struct Case {
  const char* kernel;
  const char* want;
};

void PrintTo(const Case& c, std::ostream* stream) { *stream << c.kernel; }

class UndefinedValues : public ::testing::TestWithParam<Case> {};

TEST_P(UndefinedValues, AsTheInstructionSays) {
  EXPECT_EQ(Text(Findings(GetParam().kernel)), GetParam().want);
}

std::string CaseName(const ::testing::TestParamInfo<Case>& info) {
  return info.param.kernel;
}

constexpr char kAll[] = "v3 lane 0 0xffffffff";
constexpr char kNone[] = "";

INSTANTIATE_TEST_SUITE_P(
    Moves, UndefinedValues,
    ::testing::ValuesIn(std::vector<Case>{
        {"mov_defined", kNone},
        {"mov_undefined", kAll},
        {"mov_sgpr", kAll},
        {"mov_accvgpr", kAll},
        {"mov_accvgpr_written", kNone},
        {"mov_pair", kNone},
        {"mov_pair_high", kAll},
        {"pk_mov", kNone},
        {"pk_mov_low", kAll},
        {"swap", kNone},
        {"swap_other", kAll},
        {"odd_lanes", "v3 lane 1 0xffffffff"},
        {"quad_perm", kAll},
        {"row_shr_kept", kAll},  // lane 0 has no source and keeps its value
        {"row_shr_zero", kNone},
        {"readlane_even", kNone},
        {"readlane_odd", kAll},
        {"readfirstlane", kNone},
        {"writelane", "v3 lane 7 0xffffffff"},
        {"writelane_defined", "v3 lane 3 0xffffffff"},
        {"permlane32", "v3 lane 33 0xffffffff"},
        {"partial_exec", "v3 lane 4 0xffffffff"},
    }),
    CaseName);

INSTANTIATE_TEST_SUITE_P(Logic, UndefinedValues,
                         ::testing::ValuesIn(std::vector<Case>{
                             {"and_mask", "v3 lane 0 0xff"},
                             {"or_mask", "v3 lane 0 0xffff"},
                             {"xor_self", kNone},
                             {"xor_two", kAll},
                             {"and_or", "v3 lane 0 0xff"},
                             {"or3", kNone},
                             {"bitop3_majority", kAll},
                             {"bitop3_b_alone", kNone},
                             {"shift", "v3 lane 0 0xffffff00"},
                             {"shift_right_signed", kAll},
                             {"shift_amount", kAll},
                             {"shift_amount_high_bits", kNone},
                             {"shift64", "v3 lane 0 0xff000000"},
                             {"bfe", "v3 lane 0 0xff"},
                             {"bfi", "v3 lane 0 0xffffff00"},
                             {"perm", "v3 lane 0 0xffff0000"},
                             {"perm_constant", kNone},
                             {"perm_selector", kAll},
                             {"alignbit", "v3 lane 0 0xff000000"},
                             {"cndmask_first", kNone},
                             {"cndmask_second", kAll},
                             {"cndmask_select", "v3 lane 0 0xffff"},
                         }),
                         CaseName);

INSTANTIATE_TEST_SUITE_P(Integers, UndefinedValues,
                         ::testing::ValuesIn(std::vector<Case>{
                             {"add_upward", "v3 lane 0 0xffffff00"},
                             {"add_low_bits", kNone},
                             {"mul_by_zero", kNone},
                             {"add_carry", kAll},
                             {"mad64_low", kNone},
                             {"mad64_high", kAll},
                             {"add_u16", kNone},
                             {"cmp", "v3 lane 0 0x1"},
                             {"cmp_defined", kNone},
                             {"cmp_low_half", kNone},
                             {"cmp_inactive", kNone},
                             {"mbcnt", kNone},
                         }),
                         CaseName);

INSTANTIATE_TEST_SUITE_P(Floats, UndefinedValues,
                         ::testing::ValuesIn(std::vector<Case>{
                             {"add_f32", kAll},
                             {"add_f32_few_bits", kAll},
                             {"exp", kAll},
                             {"fmac_accumulator", kAll},
                             {"fmac_defined", kNone},
                             {"pk_mul_f32", kNone},
                             {"pk_mul_f32_high", kAll},
                             {"pk_mul_f32_broadcast", kNone},
                             {"cvt_pk_bf16", "v3 lane 0 0xffff0000"},
                             {"cvt_pk_bf16_low", "v3 lane 0 0xffff"},
                             {"cvt_pk_fp8", "v3 lane 0 0xff00"},
                             {"cvt_pk_fp8_keeps", "v3 lane 0 0xffff"},
                             {"cvt_pk_fp8_both", kNone},
                             {"cvt_sr_fp8_keeps", "v3 lane 0 0xffff00ff"},
                             {"cvt_pk_u8_keeps", "v3 lane 0 0xff00ffff"},
                             {"cvt_scalef32_half", "v3 lane 0 0xffff"},
                             {"pk_add_f16", "v3 lane 0 0xffff0000"},
                             {"pk_add_f16_low", kNone},
                             {"mad_f16_keeps", "v3 lane 0 0xffff0000"},
                             {"sdwa_preserve", "v3 lane 0 0xffff00ff"},
                             {"sdwa_pad", "v3 lane 0 0xff00"},
                             {"sdwa_add_preserve", "v3 lane 0 0xffff"},
                             {"pack_f16", "v3 lane 0 0xffff"},
                         }),
                         CaseName);

// Row 5 of a 16 x 16 result is register 1 of lanes 16 to 31, column 5 is in
// lanes 5, 21, 37 and 53 (ISA 7.1.5).
INSTANTIATE_TEST_SUITE_P(Matrices, UndefinedValues,
                         ::testing::ValuesIn(std::vector<Case>{
                             {"mfma_a_row_5", "v3 lane 16 0xffffffff"},
                             {"mfma_a_row_5_other", kNone},
                             {"mfma_b_column_5", "v3 lane 5 0xffffffff"},
                             {"mfma_c_element", "v3 lane 40 0xffffffff"},
                             {"mfma_overwrites", kNone},
                         }),
                         CaseName);

INSTANTIATE_TEST_SUITE_P(Scalars, UndefinedValues,
                         ::testing::ValuesIn(std::vector<Case>{
                             {"s_add", kAll},
                             {"s_and_mask", "v3 lane 0 0xff"},
                             {"s_bfe", "v3 lane 0 0xff"},
                             {"s_lshl64", "v3 lane 0 0xf0000000"},
                             {"s_cselect", "v3 lane 0 0x3"},
                             {"s_cselect_defined", kNone},
                             {"s_addc", kAll},
                             {"s_scc_at_start", "v3 lane 0 0x3"},
                             {"s_bitcmp", kNone},
                             {"s_nonzero", kNone},
                             {"s_getreg", kNone},
                             {"s_load", kNone},
                         }),
                         CaseName);

INSTANTIATE_TEST_SUITE_P(
    Memory, UndefinedValues,
    ::testing::ValuesIn(std::vector<Case>{
        {"lds_unwritten", kAll},
        {"lds_written", kNone},
        {"lds_undefined_data", kAll},
        {"lds_one_byte", "v3 lane 0 0xffffff00"},
        {"lds_byte_read", kNone},
        {"lds_signed_byte", kAll},
        {"lds_read2", kNone},
        {"lds_read2_first", kAll},
        {"lds_atomic_unwritten", kAll},
        {"lds_atomic", kNone},
        {"lds_atomic_data", kAll},
        {"lds_atomic_old", kAll},
        {"lds_atomic_old_defined", kNone},
        {"bpermute", kAll},
        {"swizzle", kNone},
        // Element 4 of row 0 of the block is the first of lane 4.
        {"lds_transposed", "v3 lane 4 0xffff"},
        {"lds_dma", kNone},
        {"flat_lds", "v3 lane 0 0xffffff00"},
        {"scratch", "v3 lane 0 0xffffff00"},
        {"scratch_first", kNone},
    }),
    CaseName);

INSTANTIATE_TEST_SUITE_P(
    Uses, UndefinedValues,
    ::testing::ValuesIn(std::vector<Case>{
        {"branch_scc", "scc lane -1 0x1"},
        {"branch_vcc", "vcc_lo lane -1 0xffffffff, vcc_hi lane -1 0xffffffff"},
        {"branch_vcc_known", kNone},
        // An OR with ones does not depend on the other source.
        {"exec_written", "exec_lo lane -1 0xffffffff"},
        {"cmpx", "exec_lo lane -1 0xffffffff"},
        {"load_address", "v6 lane 0 0xc"},
        {"load_base", kNone},
        {"load_base_undefined",
         "s14 lane -1 0xfffffffc, s15 lane -1 0xffffffff"},
        {"scalar_address", "s14 lane -1 0x4"},
        {"lds_address", "v6 lane 0 0xc"},
        {"lds_address_inactive", kNone},
        {"m0_undefined", "m0 lane -1 0x4"},
        {"lane_number", "s20 lane -1 0xffffffff"},
        {"mode", "s20 lane -1 0xffffffff"},
        {"store_byte", kNone},
        {"store_short", "v6 lane 0 0xff00"},
        {"store_high", kNone},
        {"store_twice", "v20 lane 0 0xffffffff"},
        {"store_pair", "v7 lane 0 0xffffffff"},
        {"atomic_data", "v20 lane 0 0xffffffff"},
        {"atomic_old", kNone},
        {"jump", kNone},
        {"buffer_store_clipped", kNone},
        {"buffer_descriptor", "s18 lane -1 0xffffefff"},
    }),
    CaseName);

TEST(UndefinedValues, AFindingNamesTheInstruction) {
  const std::vector<Finding> findings = Findings("mov_undefined");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_EQ(findings[0].kernel, "mov_undefined");
  EXPECT_EQ(findings[0].disassembly, "global_store_dword v1, v3, s[4:5]");
  EXPECT_EQ(findings[0].wave, 0);
}

// Every write of a register that the end of `lds_atomic` depends on, left out
// in turn.
TEST(UndefinedValues, DroppedWritesAreFound) {
  const TestDevice device("undefined");
  const KernelInfo* kernel = device.code().FindKernel("lds_atomic");
  int dropped = 0;
  for (const Instruction& inst : device.code().instructions()) {
    if (inst.address < kernel->entry) continue;
    if (inst.mnemonic == "s_endpgm") break;
    const bool load = inst.mnemonic == "s_load_dwordx4";
    const bool move = inst.mnemonic == "v_mov_b32" &&
                      inst.operands[0].kind == OperandKind::kVgpr &&
                      inst.operands[0].index != 8;  // nobody reads it
    const bool address = inst.mnemonic == "v_lshlrev_b32";
    if (!load && !move && !address) continue;
    Edit edit;
    edit.pc = inst.address;
    EXPECT_FALSE(Findings("lds_atomic", {edit}).empty()) << inst.text;
    ++dropped;
  }
  EXPECT_EQ(dropped, 4);
}

}  // namespace
}  // namespace zyfa::emu

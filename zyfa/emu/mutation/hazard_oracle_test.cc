#include "zyfa/emu/mutation/hazard_oracle.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

// "rule wanted/found" of every violation of these lines.
std::string Judge(const std::vector<std::string>& lines) {
  std::deque<Instruction> code;
  std::vector<const Instruction*> trace;
  for (const std::string& line : lines) {
    Instruction& inst = code.emplace_back();
    inst.text = line;
    inst.address = 8 * code.size();
    trace.push_back(&inst);
  }
  std::string found;
  for (const OracleViolation& violation : FindViolations(trace)) {
    absl::StrAppend(&found, found.empty() ? "" : ", ", violation.row, " ",
                    violation.wanted, "/", violation.found);
  }
  return found;
}

std::string DescribeAll(const std::vector<const Instruction*>& trace,
                        const std::vector<OracleViolation>& violations) {
  std::string text;
  for (const OracleViolation& violation : violations) {
    absl::StrAppendFormat(
        &text, "%s: %d of %d between\n  %#x %s\n  %#x %s\n", violation.row,
        violation.found, violation.wanted, trace[violation.first]->address,
        trace[violation.first]->text, trace[violation.second]->address,
        trace[violation.second]->text);
  }
  return text;
}

std::vector<const Instruction*> StraightLine(const CodeObject& code) {
  std::vector<const Instruction*> line;
  for (const Instruction& inst : code.instructions()) line.push_back(&inst);
  return line;
}

// The pairs of testdata/hazards.s: what is one state short breaks the row that
// the file names by that many states, and nothing else; what is long enough
// breaks nothing.
TEST(HazardOracle, Pairs) {
  struct Pair {
    int states = 0;
    std::string rule;    // "" if the pair wants nothing
    bool few = false;    // shorter than by one state
    bool macro = false;  // more than two instructions; counts on a credit
  };
  std::map<int, Pair> pairs;
  const std::vector<uint8_t> bytes = ReadData("zyfa/emu/testdata/hazards.s");
  std::istringstream source(std::string(bytes.begin(), bytes.end()));
  static const std::regex kRow(
      "row ([0-9]+), ([0-9]+), \"([^\"]*)\", \"[^\"]*\"(?:, \"([^\"]*)\", "
      "[a-z]+(, [0-9]+)?)?");
  for (std::string line; std::getline(source, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, kRow)) continue;
    pairs[std::stoi(match[1])] = {std::stoi(match[2]), match[4],
                                  match[5].matched,
                                  absl::StrContains(match[3].str(), "product")};
  }
  ASSERT_GT(pairs.size(), 100u);

  const TestDevice device("hazards");
  const std::vector<const Instruction*> trace = StraightLine(device.code());
  static const std::regex kMarker("s_movk_i32 s90, (0x[0-9a-f]+|[0-9]+)");
  std::vector<int> form(trace.size(), -1);  // 2 * row, plus 1 with enough
  std::set<int> forms;
  for (size_t i = 0; i < trace.size(); ++i) {
    std::smatch match;
    if (i > 0) form[i] = form[i - 1];
    if (std::regex_match(trace[i]->text, match, kMarker)) {
      form[i] = std::stoi(match[1], nullptr, 0);
      forms.insert(form[i]);
    }
  }
  std::map<int, std::vector<OracleViolation>> found;
  const std::vector<OracleViolation> all = FindViolations(trace);
  for (const OracleViolation& violation : all) {
    found[form[violation.second]].push_back(violation);
    EXPECT_EQ(form[violation.first], form[violation.second])
        << DescribeAll(trace, {violation});
  }
  for (const auto& [row, pair] : pairs) {
    const std::string name =
        absl::StrCat("row ", row, ", ", pair.rule, " ", pair.states, "\n");
    EXPECT_EQ(forms.contains(2 * row), pair.states > 0) << name;
    EXPECT_TRUE(forms.contains(2 * row + 1)) << name;
    const auto& shorter = found[2 * row];
    const auto& enough = found[2 * row + 1];
    if (!pair.macro) {
      EXPECT_TRUE(enough.empty()) << name << DescribeAll(trace, enough);
    }
    if (pair.rule.empty()) continue;
    EXPECT_EQ(shorter.size(), 1u) << name << DescribeAll(trace, shorter);
    for (const OracleViolation& violation : shorter) {
      EXPECT_EQ(violation.row, pair.rule) << name;
      if (pair.macro) continue;
      EXPECT_EQ(violation.wanted, pair.states) << name;
      EXPECT_EQ(violation.found, pair.few ? 0 : pair.states - 1) << name;
    }
  }
  EXPECT_TRUE(found[-1].empty()) << DescribeAll(trace, found[-1]);
}

// A row wants `states` between the two lines: with one fewer it says so, alone.
void ExpectStates(int states, const std::string& rule, const std::string& first,
                  const std::string& second) {
  std::vector<std::string> lines = {first};
  for (int i = 1; i < states; ++i) lines.push_back("s_nop 0");
  lines.push_back(second);
  EXPECT_EQ(Judge(lines), absl::StrCat(rule, " ", states, "/", states - 1))
      << first << "; " << second;
  lines.insert(lines.begin() + 1, "s_nop 0");
  EXPECT_EQ(Judge(lines), "") << first << "; " << second;
}

const char kBf16[] =
    "v_mfma_f32_32x32x16_bf16 v[0:15], v[20:23], v[24:27], v[0:15]";
const char kCmpx[] = "v_cmpx_eq_u32_e32 vcc, v60, v60";

// ISA 5.1 where hazards.s has no pair.
TEST(HazardOracle, MatrixRows) {
  // The ends of tuples, from both sides.
  ExpectStates(12, "hazard-matrix-result", kBf16, "v_mov_b32_e32 v50, v15");
  EXPECT_EQ(Judge({kBf16, "v_mov_b32_e32 v50, v16"}), "");
  EXPECT_EQ(Judge({kBf16, "v_mov_b32_e32 v50, a15"}), "");
  ExpectStates(12, "hazard-matrix-result", kBf16,
               "v_add_f64 v[50:51], v[52:53], v[14:15]");
  const std::string accumulation =
      "v_mfma_f32_16x16x32_bf16 a[0:3], v[20:23], v[24:27], a[4:7]";
  ExpectStates(8, "hazard-matrix-result", accumulation,
               "v_accvgpr_read_b32 v0, a3");
  ExpectStates(8, "hazard-matrix-result-overwritten", accumulation,
               "v_accvgpr_write_b32 a3, v0");
  ExpectStates(3, "hazard-matrix-addend-overwritten", accumulation,
               "v_accvgpr_write_b32 a7, v0");
  ExpectStates(8, "hazard-matrix-result-overwritten", accumulation,
               "ds_read_b64_tr_b8 a[2:3], v4");
  ExpectStates(8, "hazard-matrix-result", accumulation,
               "buffer_store_dwordx4 a[0:3], v60, s[12:15], 0 offen");
  // Not through A and B.
  EXPECT_EQ(Judge({kBf16, "v_mov_b32_e32 v20, 0", "v_mov_b32_e32 v27, 0"}), "");
  // The whole of C, whatever the pass count; anything else is another tuple.
  EXPECT_EQ(Judge({kBf16,
                   "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[40:47], "
                   "v[48:55], v[0:15]"}),
            "");
  ExpectStates(10, "hazard-matrix-addend", kBf16,
               "v_mfma_f32_16x16x32_bf16 v[40:43], v[20:23], v[24:27], v[0:3]");
  // A sparse product adds to what it writes.
  const std::string sparse =
      "v_smfmac_f32_16x16x64_bf16 v[0:3], v[20:23], v[24:31], v36";
  EXPECT_EQ(
      Judge({"v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0", sparse}),
      "");
  ExpectStates(2, "hazard-valu-matrix-source", "v_mov_b32_e32 v2, 0", sparse);
  ExpectStates(2, "hazard-valu-matrix-source", "v_mov_b32_e32 v36, 0", sparse);
  // Scales and the product around them are one instruction.
  const std::string scaled =
      "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[20:27], v[28:35], 0, v50, "
      "v51 op_sel_hi:[0,0,0]";
  ExpectStates(12, "hazard-matrix-result", scaled, "v_mov_b32_e32 v60, v3");
  ExpectStates(8, "hazard-matrix-source",
               "v_mfma_f32_16x16x32_bf16 v[48:51], v[20:23], v[24:27], 0",
               scaled);
  // F32 goes in.
  const std::string single = "v_mfma_f32_4x4x1_16b_f32 v[0:3], v20, v21, 0";
  ExpectStates(4, "hazard-matrix-result", single, "v_mov_b32_e32 v60, v3");
  ExpectStates(2, "hazard-matrix-addend", single,
               "v_mfma_f32_16x16x4_f32 v[40:43], v20, v21, v[2:5]");
  ExpectStates(10, "hazard-matrix-source",
               "v_mfma_f32_16x16x4_f32 v[0:3], v20, v21, 0",
               "v_mfma_f32_16x16x4_f32 v[40:43], v3, v21, 0");
  // F64.
  const std::string large =
      "v_mfma_f64_16x16x4_f64 v[0:7], v[20:21], v[22:23], v[0:7]";
  const std::string small =
      "v_mfma_f64_4x4x4_4b_f64 v[0:1], v[20:21], v[22:23], 0";
  ExpectStates(11, "hazard-matrix-result-overwritten", large,
               "v_mov_b32_e32 v7, 0");
  ExpectStates(19, "hazard-matrix-source", large,
               "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[0:1], v[22:23], 0");
  EXPECT_EQ(Judge({large, large}), "");
  ExpectStates(9, "hazard-matrix-result", small, "ds_write_b64 v60, v[0:1]");
  ExpectStates(6, "hazard-matrix-result-overwritten", small,
               "v_mov_b32_e32 v1, 0");
  ExpectStates(6, "hazard-matrix-source", small,
               "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[20:21], v[0:1], 0");
}

TEST(HazardOracle, DotRows) {
  const std::string dot = "v_dot2c_f32_f16_e32 v0, v1, v2";
  EXPECT_EQ(Judge({dot, dot}), "");
  ExpectStates(3, "hazard-dot-result", dot, "v_dot2c_f32_f16_e32 v5, v1, v0");
  ExpectStates(3, "hazard-dot-result", dot, "v_dot4c_i32_i8_e32 v0, v1, v2");
  ExpectStates(3, "hazard-dot-result", dot,
               "global_store_dword v60, v0, s[4:5]");
  ExpectStates(3, "hazard-dot-result", dot,
               "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[24:27], v[40:43]");
  EXPECT_EQ(
      Judge({dot, "v_mfma_f32_16x16x32_bf16 v[40:43], v[0:3], v[24:27], 0"}),
      "hazard-dot-result 3/0");
}

// ISA 5.2 where hazards.s has no pair.
TEST(HazardOracle, OtherRows) {
  const std::string exp = "v_exp_f32_e32 v0, v1";
  ExpectStates(1, "hazard-trans-result", exp, "v_fmac_f32_e32 v0, v2, v3");
  ExpectStates(1, "hazard-trans-result", exp, "v_cvt_pk_fp8_f32 v4, v0, v0");
  ExpectStates(1, "hazard-trans-result", "v_sqrt_f64_e32 v[0:1], v[2:3]",
               "v_mov_b32_e32 v5, v1");
  EXPECT_EQ(Judge({exp, "v_mov_b32_e32 v0, 0"}), "");
  EXPECT_EQ(Judge({exp, "ds_write_b32 v60, v0"}), "");
  // The other half is kept, which is no read but of a placed result.
  EXPECT_EQ(Judge({exp, "v_cvt_pk_fp8_f32 v0, v3, v4 op_sel:[0,0,1]"}), "");
  EXPECT_EQ(Judge({"v_mov_b32_e32 v0, 0", "v_writelane_b32 v0, s3, 5"}), "");
  ExpectStates(1, "hazard-placed-result",
               "v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]",
               "v_cvt_pk_fp8_f32 v0, v3, v4");
  ExpectStates(1, "hazard-placed-result",
               "v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,1,0]",
               "v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,1,1]");
  EXPECT_EQ(Judge({"v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]",
                   "v_mov_b32_e32 v0, 0"}),
            "");
  ExpectStates(1, "hazard-partial-write",
               "v_cvt_scalef32_pk_fp4_f16 v2, v18, v17",
               "v_cvt_scalef32_pk_fp4_f16 v2, v19, v17 op_sel:[0,0,1,0]");

  ExpectStates(2, "hazard-dpp", "v_mov_b32_e32 v1, 0",
               "v_add_u32_dpp v1, v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf");
  ExpectStates(2, "hazard-dpp", "v_mov_b32_e32 v2, 0",
               "v_fmac_f32_dpp v2, v3, v4 quad_perm:[0,1,2,3] row_mask:0xf "
               "bank_mask:0xf");
  EXPECT_EQ(Judge({"v_mov_b32_e32 v8, 0",
                   "v_mov_b32_dpp v8, v5 row_shl:15 row_mask:0xf "
                   "bank_mask:0xf bound_ctrl:1"}),
            "");
  ExpectStates(2, "hazard-permlane",
               "v_mov_b32_dpp v1, v9 row_shr:1 "
               "row_mask:0xf bank_mask:0xf",
               "v_permlane32_swap_b32_e32 v0, v1");

  const std::string carry = "v_add_co_u32_e64 v9, s[20:21], v1, v2";
  ExpectStates(2, "hazard-scalar-constant", carry, "v_mov_b32_e32 v50, s20");
  ExpectStates(2, "hazard-scalar-constant", carry,
               "v_writelane_b32 v50, s20, 3");
  ExpectStates(2, "hazard-scalar-constant", carry,
               "v_cndmask_b32_e64 v50, s20, v52, s[20:21]");
  ExpectStates(4, "hazard-lane-select", carry, "v_writelane_b32 v50, 1, s20");
  ExpectStates(5, "hazard-scalar-address", carry,
               "scratch_load_dword v50, off, s20");
  ExpectStates(5, "hazard-scalar-address", carry,
               "global_load_lds_dword v60, s[20:21]");
  EXPECT_EQ(Judge({carry, "s_load_dword s3, s[20:21], 0x0"}), "");
  EXPECT_EQ(Judge({carry, "v_subb_co_u32_e64 v6, s[0:1], v7, v8, s[20:21]"}),
            "");
  // What a scalar instruction puts there instead is interlocked.
  EXPECT_EQ(Judge({carry, "s_mov_b32 s20, 0", "v_mov_b32_e32 v50, s20"}), "");
  EXPECT_EQ(Judge({carry, "s_cmp_eq_u32 s20, 0", "v_mov_b32_e32 v50, s20"}),
            "hazard-scalar-constant 2/1");
  ExpectStates(4, "hazard-div-fmas", "v_div_scale_f32 v1, vcc, v2, v3, v2",
               "v_div_fmas_f32 v50, v51, v52, v53");
  EXPECT_EQ(Judge({"v_div_scale_f32 v1, s[0:1], v2, v3, v2",
                   "v_div_fmas_f32 v50, v51, v52, v53"}),
            "");

  ExpectStates(4, "hazard-exec", kCmpx, "v_readfirstlane_b32 s3, v1");
  ExpectStates(4, "hazard-exec", kCmpx, "v_permlane16_swap_b32_e32 v1, v2");
  ExpectStates(4, "hazard-exec", kCmpx,
               "v_smfmac_f32_16x16x64_bf16 v[0:3], v[20:23], v[24:31], v36");

  for (const char* second :
       {"buffer_load_dwordx4 v60, s[12:15], 0 offen lds",
        "global_load_lds_dwordx4 v[2:3], off", "ds_read_addtid_b32 v1",
        "ds_write_addtid_b32 v1", "s_sendmsg sendmsg(MSG_INTERRUPT)",
        "s_movrels_b32 s0, s1"}) {
    ExpectStates(1, "hazard-m0", "s_add_u32 m0, s3, 0x400", second);
  }
  EXPECT_EQ(Judge({"s_mov_b32 m0, 0", "ds_read_b32 v0, v1"}), "");
  EXPECT_EQ(Judge({"v_readfirstlane_b32 m0, v1",
                   "global_load_lds_dwordx4 v[2:3], off"}),
            "");

  ExpectStates(2, "hazard-setreg", "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s3",
               "s_getreg_b32 s20, hwreg(HW_REG_MODE, 4, 2)");
  EXPECT_EQ(Judge({"s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s3",
                   "s_getreg_b32 s20, hwreg(HW_REG_HW_ID)"}),
            "");
  EXPECT_EQ(Judge({"s_getreg_b32 s20, hwreg(HW_REG_MODE)",
                   "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s3"}),
            "");

  ExpectStates(2, "hazard-store-data-overwritten",
               "scratch_store_dwordx4 off, v[4:7], off offset:4",
               "v_mov_b32_e32 v7, 0");
  ExpectStates(2, "hazard-store-data-overwritten",
               "flat_store_dwordx3 v[0:1], v[4:6]", "v_mov_b32_e32 v4, 0");
  EXPECT_EQ(Judge({"flat_store_dwordx3 v[0:1], v[4:6]", "v_mov_b32_e32 v0, 0"}),
            "");
  ExpectStates(2, "hazard-store-data-overwritten",
               "global_store_dwordx4 v60, v[0:3], s[4:5]",
               "v_mfma_f32_16x16x32_bf16 v[0:3], v[20:23], v[24:27], 0");
  EXPECT_EQ(Judge({"buffer_store_dwordx3 v[0:2], off, s[12:15], m0",
                   "v_mov_b32_e32 v0, 0"}),
            "");
}

TEST(HazardOracle, CountsWaitStates) {
  EXPECT_EQ(Judge({kBf16, "s_nop 11", "v_mov_b32_e32 v50, v0"}), "");
  EXPECT_EQ(Judge({kBf16, "s_nop 10", "v_mov_b32_e32 v50, v0"}),
            "hazard-matrix-result 12/11");
  EXPECT_EQ(Judge({kBf16, "s_nop 11 (edited to 0x3)", "v_mov_b32_e32 v50, v0"}),
            "hazard-matrix-result 12/4");
  // Another product is one state and no more.
  EXPECT_EQ(
      Judge({kBf16,
             "v_mfma_f32_32x32x16_bf16 v[64:79], v[20:23], v[24:27], v[64:79]",
             "s_nop 9", "v_mov_b32_e32 v50, v0"}),
      "hazard-matrix-result 12/11");
}

TEST(HazardOracle, OncePerAddressAndRow) {
  Instruction exp, add;
  exp.text = "v_exp_f32_e32 v0, v1";
  exp.address = 0;
  add.text = "v_add_f32_e32 v2, v0, v0";
  add.address = 4;
  const auto found = FindViolations({&exp, &add, &exp, &add});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, 0u);
  EXPECT_EQ(found[0].second, 1u);
}

// LLVM waits wherever the tables want it, in every path through its code and
// thus in straight lines of it; but for stores whose data a load overwrites,
// where it looks at VALU instructions alone.
TEST(HazardOracle, CompilersCodeIsSafe) {
  for (const char* name :
       {"arithmetic", "atomics", "attention", "conversions", "cross_lane",
        "gemm_dense", "gemm_scaled", "gemm_sparse", "gemm_tiled", "memory",
        "programs", "rows", "transpose"}) {
    for (const char* level : {"", "_o3"}) {
      const TestDevice device(absl::StrCat(name, level));
      std::vector<const Instruction*> line;
      int instructions = 0;
      for (const Instruction* inst : StraightLine(device.code())) {
        line.push_back(inst);
        ++instructions;
        if (!absl::StartsWith(inst->text, "s_endpgm") &&
            !absl::StartsWith(inst->text, "s_branch") &&
            !absl::StartsWith(inst->text, "s_setpc")) {
          continue;
        }
        std::vector<OracleViolation> found = FindViolations(line);
        std::erase_if(found, [&](const OracleViolation& violation) {
          return violation.row == "hazard-store-data-overwritten" &&
                 absl::StartsWith(line[violation.second]->text, "global_load");
        });
        EXPECT_TRUE(found.empty()) << name << level << "\n"
                                   << DescribeAll(line, found);
        line.clear();
      }
      EXPECT_GT(instructions, 100) << name << level;
    }
  }
}

}  // namespace
}  // namespace zyfa::emu

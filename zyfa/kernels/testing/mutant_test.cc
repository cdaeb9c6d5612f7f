// Shows that the checks of this folder notice a broken kernel: for each mutant
// some case under some schedule must fail, and the whole kernel, built the same
// way, must pass all.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/schedules.h"
#include "zyfa/kernels/testing/attention_case.h"

namespace zyfa::testing {
namespace {

struct Mutant {
  const char* name;
  const char* variant;
};

class MutantTest : public ::testing::TestWithParam<Mutant> {};

// What the checks say of the code object NAME.co, "" if nothing.
std::string FirstComplaint(const std::string& name,
                           const std::string& variant) {
  std::ifstream file("zyfa/kernels/testing/" + name + ".co", std::ios::binary);
  const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)),
                                   std::istreambuf_iterator<char>());
  const auto code = emu::CodeObject::Load(bytes);
  if (!code.ok()) return "not loaded";
  for (auto [seqlen_q, seqlen_kv] :
       {std::pair<int64_t, int64_t>{70, 130}, {300, 300}}) {
    AttentionCase c;
    c.variant = ParseVariant(variant).value();
    c.seqlen_q = seqlen_q;
    c.seqlen_kv = seqlen_kv;
    c.value.row_padding = 64;
    SetNegativeLogits(c);
    for (const emu::RunOptions& options :
         emu::AllSchedules(emu::StrictOptions())) {
      std::string complaint = Verify(c, options, code->get());
      if (!complaint.empty()) return complaint;
    }
  }
  if (IsPersistent(*ParseVariant(variant))) {
    // Groups that go from item to item, and references that move.
    AttentionCase c;
    c.variant = ParseVariant(variant).value();
    c.heads_q = c.heads_kv = 9;
    c.seqlen_q = 300;
    c.seqlen_kv = 900;
    c.softmax_scale = 0.3f;
    c.compute_units = 8;
    std::string complaint = Verify(c, emu::StrictOptions(), code->get());
    if (!complaint.empty()) return complaint;
  }
  AttentionCase c;
  c.variant = ParseVariant(variant).value();
  c.seqlen_q = 40;
  c.seqlen_kv = 600;
  SetMovingMaximum(c, 6e6f, 6.0f);
  return Verify(c, {}, code->get());
}

constexpr char kLean[] = "fp8_lean_d128_causal";
constexpr char kExact[] = "fp8_exact_d128_full";
constexpr char kShift[] = "int8_shift_d128_causal";
constexpr char kMultiply[] = "int8_multiply_d128_full";

TEST(WholeKernelTest, PassesEveryCheck) {
  EXPECT_EQ(FirstComplaint("unchanged", "bf16_d128_causal"), "");
  EXPECT_EQ(FirstComplaint("unchanged_full", "bf16_d128_full"), "");
  EXPECT_EQ(FirstComplaint("fp8_unchanged", kLean), "");
  EXPECT_EQ(FirstComplaint("fp8_unchanged_exact", kExact), "");
  EXPECT_EQ(FirstComplaint("int8_unchanged", kShift), "");
  EXPECT_EQ(FirstComplaint("int8_unchanged_multiply", kMultiply), "");
}

TEST_P(MutantTest, IsNoticed) {
  const std::string complaint =
      FirstComplaint(GetParam().name, GetParam().variant);
  std::printf("%s: %s\n", GetParam().name, complaint.c_str());
  EXPECT_NE(complaint, "");
  EXPECT_NE(complaint, "not loaded");
}

constexpr Mutant kMutants[] = {
    {"no_tile_wait", "bf16_d128_causal"},
    {"no_tile_barrier", "bf16_d128_causal"},
    {"no_fragment_wait", "bf16_d128_causal"},
    {"wrong_key_step", "bf16_d128_causal"},
    {"mask_too_short", "bf16_d128_causal"},
    {"care_too_late", "bf16_d128_causal"},
    {"mask_too_long", "bf16_d128_full"},
    {"fp8_no_meeting_wait", kLean},
    {"fp8_no_meeting_barrier", kLean},
    {"fp8_no_fragment_wait", kLean},
    {"fp8_wrong_key_step", kLean},
    {"fp8_mask_too_short", kLean},
    {"fp8_mask_too_long_exact", kExact},
    {"fp8_wrong_exponent", kLean},
    {"fp8_no_code_sum", kLean},
    {"fp8_wrong_factor", kLean},
    {"fp8_wrong_factor_exact", kExact},
    {"fp8_care_too_late", kLean},
    {"fp8_wrong_round", kLean},
    {"int8_no_meeting_wait", kShift},
    {"int8_no_meeting_barrier", kShift},
    {"int8_no_fragment_wait", kShift},
    {"int8_wrong_key_step", kShift},
    {"int8_mask_too_short", kShift},
    {"int8_mask_too_long_multiply", kMultiply},
    {"int8_unsigned_multiply", kMultiply},
    {"int8_one_code_of_two", kShift},
    {"int8_no_code_sum", kShift},
    {"int8_wrong_exponent", kShift},
    {"int8_rise_too_late", kShift},
    {"int8_wrong_factor", kShift},
    {"int8_wrong_round", kShift},
};

INSTANTIATE_TEST_SUITE_P(Mutants, MutantTest, ::testing::ValuesIn(kMutants),
                         [](const auto& mutant) {
                           return std::string(mutant.param.name);
                         });

}  // namespace
}  // namespace zyfa::testing

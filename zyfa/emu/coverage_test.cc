// The committed page is what the handlers declare.

#include <string>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "zyfa/emu/coverage_report.h"
#include "zyfa/emu/handlers.h"
#include "zyfa/emu/instruction_set.h"
#include "zyfa/emu/testing/test_device.h"
#include "zyfa/emu/vector/handlers.h"

namespace zyfa::emu {
namespace {

TEST(CoverageTest, PageIsUpToDate) {
  const absl::StatusOr<std::string> report = CoverageReport();
  ASSERT_TRUE(report.ok()) << report.status();
  const std::vector<uint8_t> bytes = ReadData("docs/emulator-coverage.md");
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), *report)
      << "write it anew: bazel run //zyfa/emu:coverage > "
         "docs/emulator-coverage.md";
}

// The enumeration sees what is known to exist, in every encoding.
TEST(CoverageTest, EveryEncodingIsEnumerated) {
  const auto all = EnumerateInstructionSet();
  ASSERT_TRUE(all.ok()) << all.status();
  for (const char* name : {"s_add_u32",
                           "s_movk_i32",
                           "s_mov_b32",
                           "s_cmp_eq_u32",
                           "s_waitcnt",
                           "s_load_dwordx16",
                           "v_add_f32",
                           "v_fmaak_f32",
                           "v_exp_f32",
                           "v_cmp_lt_f32",
                           "v_fma_f32",
                           "v_div_scale_f64",
                           "v_readlane_b32",
                           "v_pk_fma_f32",
                           "v_mfma_f32_32x32x16_bf16",
                           "v_smfmac_i32_16x16x128_i8",
                           "v_mfma_scale_f32_32x32x64_f8f6f4",
                           "ds_read_b64_tr_b8",
                           "ds_write2st64_b64",
                           "ds_gws_init",
                           "flat_load_dwordx4",
                           "flat_atomic_add_f64",
                           "global_load_lds_dwordx4",
                           "scratch_store_dword",
                           "buffer_load_dwordx4",
                           "buffer_atomic_pk_add_bf16",
                           "tbuffer_load_format_x"}) {
    EXPECT_TRUE(all->contains(name)) << name;
  }
}

// A vector mnemonic has a subject, with a source and tests.
TEST(CoverageTest, EveryVectorMnemonicIsDeclared) {
  for (const std::string& name : VectorMnemonics()) {
    const Semantics* semantics = FindVectorSemantics(name);
    ASSERT_NE(semantics, nullptr) << name;
    ASSERT_NE(semantics->subject, nullptr) << name;
    EXPECT_FALSE(semantics->subject->source.empty()) << name;
    EXPECT_FALSE(semantics->subject->tests.empty()) << name;
  }
}

}  // namespace
}  // namespace zyfa::emu

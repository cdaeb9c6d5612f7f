// No compiled program holds an instruction that the emulator lacks, and
// together they use most kinds that there are.
#include <filesystem>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

TEST(Coverage, EveryCompiledInstructionIsEmulated) {
  std::set<std::string> mnemonics;
  int objects = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("zyfa/emu/testdata")) {
    if (entry.path().extension() != ".co") continue;
    auto code = CodeObject::Load(ReadData(entry.path().string()));
    ASSERT_TRUE(code.ok()) << entry.path() << ": " << code.status();
    ++objects;
    for (const Instruction& inst : (*code)->instructions()) {
      EXPECT_NE(inst.handler, nullptr) << entry.path() << ": " << inst.text;
      mnemonics.insert(inst.mnemonic);
    }
  }
  EXPECT_GE(objects, 26);
  EXPECT_GT(mnemonics.size(), 450u);
  for (const char* part :
       {"v_mfma_f64", "v_mfma_i32", "v_mfma_scale_f32_16x16x128",
        "v_smfmac_f32", "v_smfmac_i32", "v_permlane32_swap",
        "ds_read_b96_tr_b6", "ds_swizzle", "ds_pk_add_bf16",
        "global_atomic_pk_add_f16", "flat_atomic_add", "scratch_store",
        "buffer_load_dwordx4", "global_load_lds_dwordx4", "v_div_fixup_f64",
        "v_pk_fma_f32", "v_cvt_scalef32_2xpk16_bf6_f32", "v_dot8c_i32_i4",
        "s_set_gpr_idx_on"}) {
    const auto at = mnemonics.lower_bound(part);
    EXPECT_TRUE(at != mnemonics.end() && at->rfind(part, 0) == 0) << part;
  }
}

}  // namespace
}  // namespace zyfa::emu

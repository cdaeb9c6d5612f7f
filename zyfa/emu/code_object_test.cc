#include "zyfa/emu/code_object.h"

#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

std::vector<uint8_t> Programs() {
  return ReadData("zyfa/emu/testdata/programs.co");
}

TEST(CodeObject, KernelsAndArguments) {
  auto code = CodeObject::Load(Programs());
  ASSERT_TRUE(code.ok()) << code.status();
  const KernelInfo* kernel = (*code)->FindKernel("reduce");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->lds_bytes, 1024u);
  EXPECT_EQ(kernel->max_workgroup_size, 1024u);
  ASSERT_GE(kernel->arguments.size(), 3u);
  EXPECT_EQ(kernel->arguments[0].value_kind, "global_buffer");
  EXPECT_EQ(kernel->arguments[2].offset, 16u);
  EXPECT_EQ(kernel->arguments[2].size, 4u);
  EXPECT_EQ((*code)->FindKernel("no_such_kernel"), nullptr);
  for (const KernelInfo& k : (*code)->kernels()) {
    EXPECT_GE((*code)->IndexAt(k.entry), 0) << k.name;
  }
  EXPECT_EQ((*code)->IndexAt(2), -1);
  EXPECT_EQ((*code)->IndexAt((*code)->text().size()), -1);
}

// Names and order as they stand in phases.s; the sizes that llvm-readelf gives
// for descriptors and _DYNAMIC lie in other sections.
TEST(CodeObject, SymbolsOfText) {
  auto code = CodeObject::Load(ReadData("zyfa/emu/testdata/phases.co"));
  ASSERT_TRUE(code.ok()) << code.status();
  std::vector<std::string> names;
  uint64_t last = 0;
  for (const CodeObject::Symbol& symbol : (*code)->symbols()) {
    names.push_back(symbol.name);
    EXPECT_GE(symbol.offset, last) << symbol.name;
    EXPECT_GE((*code)->IndexAt(symbol.offset), 0) << symbol.name;
    last = symbol.offset;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"phased", "multiply", "row_sums",
                                             "phase.soften", "next_pass",
                                             "ending", "unnamed"}));
  EXPECT_EQ((*code)->symbols()[0].offset, (*code)->FindKernel("phased")->entry);
  const auto at = [&code](size_t symbol) {
    const uint64_t offset = (*code)->symbols()[symbol].offset;
    return (*code)
        ->instructions()[static_cast<size_t>((*code)->IndexAt(offset))]
        .mnemonic;
  };
  EXPECT_EQ(at(1), "v_mfma_f32_32x32x16_bf16");
  EXPECT_EQ(at(3), "v_exp_f32");
  EXPECT_EQ(at(5), "s_endpgm");
}

TEST(CodeObject, RefusesOtherFiles) {
  EXPECT_FALSE(CodeObject::Load({}).ok());
  std::vector<uint8_t> file = Programs();
  const auto message = [](const std::vector<uint8_t>& bytes) {
    return std::string(CodeObject::Load(bytes).status().message());
  };
  std::vector<uint8_t> other = file;
  other[48] = 0x4c;  // e_flags: gfx942
  EXPECT_NE(message(other).find("not gfx950"), std::string::npos)
      << message(other);
  other = file;
  other[18] = 62;  // e_machine: x86-64
  EXPECT_NE(message(other).find("not AMDGPU"), std::string::npos)
      << message(other);
  other = file;
  other[16] = 1;  // e_type: relocatable
  EXPECT_NE(message(other).find("not a linked"), std::string::npos)
      << message(other);
  other = file;
  const std::string key = "amdhsa.kernels";
  auto at = std::search(other.begin(), other.end(), key.begin(), key.end());
  ASSERT_NE(at, other.end());
  *at = 'x';
  EXPECT_NE(message(other).find("amdhsa.kernels"), std::string::npos)
      << message(other);
}

}  // namespace
}  // namespace zyfa::emu

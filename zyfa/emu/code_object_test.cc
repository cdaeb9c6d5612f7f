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

// The example kernel as text and as the code object that the build makes of it.

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "zyfa/gen/asm/example_kernel.h"
#include "zyfa/gen/asm/llvm_disassembler.h"

namespace zyfa::gen {
namespace {

using ::testing::HasSubstr;

constexpr char kCodeObject[] = "zyfa/gen/asm/example_code.co";

TEST(ExampleTest, SameBytesEveryTime) {
  ASSERT_TRUE(AddOneKernel().ok()) << AddOneKernel().status();
  EXPECT_EQ(*AddOneKernel(), *AddOneKernel());
}

TEST(ExampleTest, TextIsCommented) {
  const std::string text = *AddOneKernel();
  EXPECT_THAT(text, HasSubstr("// add_one\n// out[i] = in[i] + 1"));
  EXPECT_THAT(text, HasSubstr("//   s[4:7]       out, in "));
  EXPECT_THAT(text, HasSubstr("// ---- Arguments ----"));
  EXPECT_THAT(text, HasSubstr("// lanes with index < n"));
  EXPECT_THAT(text, HasSubstr("// wait: load -> v3"));
  EXPECT_THAT(text, HasSubstr(".amdhsa_code_object_version 5"));
}

TEST(ExampleTest, CodeHasTheWaits) {
  const auto code = DisassembleFile(kCodeObject);
  ASSERT_TRUE(code.ok()) << code.status();
  std::vector<std::string> waits;
  for (const LlvmInstruction& inst : *code) {
    const size_t at = inst.text.find("s_waitcnt");
    if (at != std::string::npos) waits.push_back(inst.text.substr(at));
  }
  EXPECT_THAT(waits, ::testing::ElementsAre("s_waitcnt lgkmcnt(0)",
                                            "s_waitcnt vmcnt(0)"));
}

// Phases are in the file that ships, at their instructions.
TEST(ExampleTest, PhasesOutliveTheLinker) {
  const auto code = DisassembleFile(kCodeObject);
  ASSERT_TRUE(code.ok()) << code.status();
  uint64_t before_add = 0;
  for (const LlvmInstruction& inst : *code) {
    if (inst.text.find("v_lshlrev_b32") != std::string::npos) break;
    before_add += static_cast<uint64_t>(inst.bytes);
  }
  auto file = llvm::object::ObjectFile::createObjectFile(kCodeObject);
  ASSERT_TRUE(static_cast<bool>(file));
  std::map<std::string, uint64_t> at;
  for (const llvm::object::SymbolRef& symbol : file->getBinary()->symbols()) {
    at[llvm::cantFail(symbol.getName()).str()] =
        llvm::cantFail(symbol.getAddress());
  }
  ASSERT_THAT(at, ::testing::Contains(::testing::Key("phase.load")));
  ASSERT_THAT(at, ::testing::Contains(::testing::Key("phase.add")));
  EXPECT_EQ(at["phase.load"], at["add_one"]);
  EXPECT_EQ(at["phase.add"], at["add_one"] + before_add);
}

// Descriptor bytes by the LLVM AMDGPU usage guide (code object v3 and later).
TEST(ExampleTest, Descriptor) {
  auto file = llvm::object::ObjectFile::createObjectFile(kCodeObject);
  ASSERT_TRUE(static_cast<bool>(file));
  uint8_t kd[64] = {};
  for (const llvm::object::SymbolRef& symbol : file->getBinary()->symbols()) {
    auto name = symbol.getName();
    if (!name || *name != "add_one.kd") continue;
    const uint64_t address = llvm::cantFail(symbol.getAddress());
    const auto section = llvm::cantFail(symbol.getSection());
    const llvm::StringRef bytes = llvm::cantFail(section->getContents());
    std::memcpy(kd, bytes.data() + (address - section->getAddress()), 64);
  }
  auto u32 = [&](int at) {
    uint32_t value;
    std::memcpy(&value, kd + at, 4);
    return value;
  };
  EXPECT_EQ(u32(0), 0u);                   // LDS
  EXPECT_EQ(u32(8), 24u);                  // kernel arguments
  EXPECT_EQ(u32(44) & 0x3f, 0u);           // accum_offset 4
  EXPECT_EQ(u32(48) & 0x3f, 0u);           // up to 8 VGPRs
  EXPECT_EQ(u32(48) >> 12 & 0xff, 0xc0u);  // F32 denormals flushed, F16 kept
  EXPECT_EQ(u32(48) >> 21 & 1, 0u);        // DX10_CLAMP
  EXPECT_EQ(u32(48) >> 23 & 1, 0u);        // IEEE
  EXPECT_EQ(u32(48) >> 26 & 1, 0u);        // FP16_OVFL
  EXPECT_EQ(u32(52) >> 1 & 0x1f, 2u);      // user SGPRs
  EXPECT_EQ(u32(52) >> 7 & 7, 1u);         // work-group id x only
  EXPECT_EQ(kd[56] >> 3 & 1, 1);           // kernel argument pointer
}

}  // namespace
}  // namespace zyfa::gen

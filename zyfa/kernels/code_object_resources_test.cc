#include "zyfa/kernels/code_object_resources.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa {
namespace {

using ::testing::HasSubstr;

std::vector<uint8_t> CodeObject() {
  std::ifstream in("zyfa/kernels/two_kernels.co", std::ios::binary);
  return std::vector<uint8_t>((std::istreambuf_iterator<char>(in)),
                              std::istreambuf_iterator<char>());
}

// The file comes from clang's assembler; what it was told stands in
// testdata/two_kernels.sh. Allocation: vector registers by eights, scalar ones
// by sixteens after adding the 6 of VCC, flat scratch and XNACK mask.
TEST(CodeObjectResourcesTest, ReadsWhatTheAssemblerWasTold) {
  const auto code = CodeObject();
  const auto small = ReadKernelResources(code, "small");
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_EQ(small->vgprs, 8u);
  EXPECT_EQ(small->agprs, 0u);
  EXPECT_EQ(small->sgprs, 16u);
  EXPECT_EQ(small->lds_bytes, 0u);
  EXPECT_EQ(small->private_bytes, 0u);
  EXPECT_EQ(small->workgroup_size, 64u);
  EXPECT_EQ(small->kernarg_bytes, 16u);

  const auto large = ReadKernelResources(code, "large");
  ASSERT_TRUE(large.ok()) << large.status();
  EXPECT_EQ(large->vgprs, 100u);
  EXPECT_EQ(large->agprs, 108u);
  EXPECT_EQ(large->sgprs, 48u);
  EXPECT_EQ(large->lds_bytes, 163840u);
  EXPECT_EQ(large->private_bytes, 20u);
  EXPECT_EQ(large->workgroup_size, 1024u);
  EXPECT_EQ(large->kernarg_bytes, 300u);
}

TEST(CodeObjectResourcesTest, RefusesWithTheReason) {
  const auto code = CodeObject();
  const auto message = [](std::vector<uint8_t> bytes, const char* kernel) {
    return std::string(ReadKernelResources(bytes, kernel).status().message());
  };
  EXPECT_EQ(ReadKernelResources(code, "medium").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(message({}, "small"), HasSubstr("not a 64-bit"));
  EXPECT_THAT(message({'M', 'Z'}, "small"), HasSubstr("not a 64-bit"));
  auto other = code;
  other[18] = 62;  // x86-64
  EXPECT_THAT(message(other, "small"), HasSubstr("not for AMD GPUs"));
  other = code;
  other[48] = 0x4c;  // gfx942
  EXPECT_THAT(message(other, "small"), HasSubstr("not for gfx950"));
}

TEST(CodeObjectResourcesTest, DescriptorAndMetadataMustAgree) {
  auto code = CodeObject();
  // The LDS size is the first number of the descriptor of "large", 163840.
  const uint8_t lds[] = {0x00, 0x80, 0x02, 0x00, 20, 0, 0, 0};
  auto at =
      std::search(code.begin(), code.end(), std::begin(lds), std::end(lds));
  ASSERT_NE(at, code.end());
  *at = 4;
  EXPECT_THAT(ReadKernelResources(code, "large").status().message(),
              HasSubstr("LDS size is 163844 in the descriptor and 163840"));
}

TEST(CodeObjectResourcesTest, DamageGivesErrorsNotCrashes) {
  const auto code = CodeObject();
  ASSERT_FALSE(code.empty());
  for (size_t bytes = 0; bytes < code.size(); ++bytes) {
    // In a block of its own, so that a sanitizer sees reads beyond the end.
    const std::vector<uint8_t> cut(code.begin(), code.begin() + bytes);
    EXPECT_FALSE(ReadKernelResources(cut, "large").ok()) << bytes;
  }
  for (size_t at = 0; at < code.size(); ++at) {
    for (uint8_t flip : {0x01, 0x80, 0xff}) {
      auto damaged = code;
      damaged[at] ^= flip;
      (void)ReadKernelResources(damaged, "large");
    }
  }
}

}  // namespace
}  // namespace zyfa

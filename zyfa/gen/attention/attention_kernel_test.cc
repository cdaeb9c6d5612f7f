#include "zyfa/gen/attention/attention_kernel.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/variant/variant.h"

namespace zyfa::gen {
namespace {

using ::testing::HasSubstr;

std::vector<Variant> AllVariants() {
  std::vector<Variant> all;
  for (int head_dim_qk : {128, 192}) {
    for (Mask mask : {Mask::kCausal, Mask::kFull}) {
      all.push_back({DataType::kBf16, head_dim_qk, 128, mask});
    }
  }
  return all;
}

TEST(AttentionKernelTest, SameVariantSameBytesOtherVariantOthers) {
  std::set<std::string> texts;
  for (const Variant& variant : AllVariants()) {
    const auto text = GenerateAttentionKernel(variant);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(*text, *GenerateAttentionKernel(variant));
    EXPECT_TRUE(texts.insert(*text).second);
    EXPECT_THAT(*text,
                HasSubstr(".amdhsa_kernel zyfa_" + VariantName(variant)));
  }
}

TEST(AttentionKernelTest, RefusesHeadDimsWithoutALayout) {
  EXPECT_THAT(GenerateAttentionKernel({DataType::kBf16, 64, 64, Mask::kFull})
                  .status()
                  .message(),
              HasSubstr("head dims 64/64"));
}

// Packed fp32 arithmetic keeps the matrix pipe from issuing (cdna4-timing 1.3).
TEST(AttentionKernelTest, NoPackedArithmetic) {
  for (const Variant& variant : AllVariants()) {
    const auto text = GenerateAttentionKernel(variant);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_FALSE(absl::StrContains(*text, "v_pk_"));
  }
}

}  // namespace
}  // namespace zyfa::gen

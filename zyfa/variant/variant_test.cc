#include "zyfa/variant/variant.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa {
namespace {

using ::testing::HasSubstr;

TEST(VariantTest, NameAndStructAreInverse) {
  for (int qk : {128, 192}) {
    for (Mask mask : {Mask::kCausal, Mask::kFull}) {
      const Variant variant = {DataType::kBf16, qk, 128, mask};
      const auto parsed = ParseVariant(VariantName(variant));
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      EXPECT_EQ(*parsed, variant);
    }
  }
  EXPECT_EQ(VariantName({DataType::kBf16, 128, 128, Mask::kCausal}),
            "bf16_d128_causal");
  EXPECT_EQ(VariantName({DataType::kBf16, 192, 128, Mask::kFull}),
            "bf16_d192x128_full");
}

TEST(VariantTest, RefusalNamesThePartAndWhatIsAllowed) {
  const struct {
    const char* name;
    const char* part;
  } kCases[] = {{"fp4_d128_causal", "'fp4' is not one of bf16"},
                {"bf16_d64_causal", "'d64' is not one of d128, d192x128"},
                {"bf16_d128_window", "'window' is not one of causal, full"},
                {"bf16_d128", "does not read"},
                {"", "does not read"},
                {"bf16_d128_causal_full", "does not read"}};
  for (const auto& c : kCases) {
    EXPECT_THAT(ParseVariant(c.name).status().message(), HasSubstr(c.part));
  }
}

}  // namespace
}  // namespace zyfa

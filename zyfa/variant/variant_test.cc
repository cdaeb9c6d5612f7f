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
      for (Probability probability :
           {Probability::kExact, Probability::kLean}) {
        const Variant fp8 = {DataType::kFp8, qk, 128, mask, probability};
        const auto parsed_fp8 = ParseVariant(VariantName(fp8));
        ASSERT_TRUE(parsed_fp8.ok()) << parsed_fp8.status();
        EXPECT_EQ(*parsed_fp8, fp8);
      }
      for (Probability probability :
           {Probability::kShift, Probability::kMultiply}) {
        const Variant int8 = {DataType::kInt8, qk, 128, mask, probability};
        const auto parsed_int8 = ParseVariant(VariantName(int8));
        ASSERT_TRUE(parsed_int8.ok()) << parsed_int8.status();
        EXPECT_EQ(*parsed_int8, int8);
      }
    }
  }
  EXPECT_EQ(VariantName({DataType::kBf16, 128, 128, Mask::kCausal}),
            "bf16_d128_causal");
  EXPECT_EQ(VariantName({DataType::kBf16, 192, 128, Mask::kFull}),
            "bf16_d192x128_full");
  EXPECT_EQ(VariantName(
                {DataType::kFp8, 128, 128, Mask::kCausal, Probability::kLean}),
            "fp8_lean_d128_causal");
  EXPECT_EQ(VariantName(
                {DataType::kInt8, 192, 128, Mask::kFull, Probability::kShift}),
            "int8_shift_d192x128_full");
}

TEST(VariantTest, RefusalNamesThePartAndWhatIsAllowed) {
  const struct {
    const char* name;
    const char* part;
  } kCases[] = {{"fp4_lean_d128_causal", "'fp4' is not one of bf16, fp8, int8"},
                {"bf16_d64_causal", "'d64' is not one of d128, d192x128"},
                {"bf16_d128_window", "'window' is not one of causal, full"},
                {"bf16_d128", "does not read"},
                {"fp8_fast_d128_full", "'fast' is not one of lean, exact"},
                {"fp8_lean_d64_full", "'d64' is not one of d128, d192x128"},
                {"fp8_d128_causal", "does not read"},
                {"bf16_lean_d128_causal", "does not read"},
                {"int8_lean_d128_full", "'lean' is not one of shift, multiply"},
                {"int8_d128_full", "does not read"},
                {"", "does not read"},
                {"bf16_d128_causal_full", "does not read"}};
  for (const auto& c : kCases) {
    EXPECT_THAT(ParseVariant(c.name).status().message(), HasSubstr(c.part));
  }
}

}  // namespace
}  // namespace zyfa

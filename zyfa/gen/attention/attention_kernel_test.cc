#include "zyfa/gen/attention/attention_kernel.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/variant/variant.h"

namespace zyfa::gen {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

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

// What docs/reading-a-trace.md and its tools tell apart.
TEST(AttentionKernelTest, NamesItsPhases) {
  for (const Variant& variant : AllVariants()) {
    const auto text = GenerateAttentionKernel(variant);
    ASSERT_TRUE(text.ok()) << text.status();
    std::vector<std::string> phases;
    for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
      absl::string_view name = line;
      if (absl::ConsumePrefix(&name, "phase.") &&
          absl::ConsumeSuffix(&name, ":")) {
        phases.emplace_back(name);
      }
    }
    EXPECT_EQ(std::set<std::string>(phases.begin(), phases.end()).size(),
              phases.size());
    for (const char* name :
         {"entry", "lane_constants", "tile_bounds", "query_load", "tile_start",
          "first_tiles", "first_scores", "first_trip", "store", "next_tile"}) {
      EXPECT_THAT(phases, Contains(name));
    }
    for (const char* name :
         {"first_half_plain_", "first_half_masked_", "first_half_careful_",
          "scores_", "last_", "drain_", "idle_", "moved_reference_plain_"}) {
      EXPECT_THAT(phases,
                  IsSupersetOf({absl::StrCat(name, 0), absl::StrCat(name, 1)}));
    }
  }
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

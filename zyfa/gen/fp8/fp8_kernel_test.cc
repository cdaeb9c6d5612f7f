#include "zyfa/gen/fp8/fp8_kernel.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
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

std::vector<Variant> AllVariants() {
  std::vector<Variant> all;
  for (const Probability probability :
       {Probability::kLean, Probability::kExact}) {
    for (const int head_dim_qk : {128, 192}) {
      for (const Mask mask : {Mask::kCausal, Mask::kFull}) {
        all.push_back({DataType::kFp8, head_dim_qk, 128, mask, probability});
      }
    }
  }
  return all;
}

std::vector<std::string> Lines(const Variant& variant) {
  const auto text = GenerateFp8Kernel(variant);
  EXPECT_TRUE(text.ok()) << text.status();
  return absl::StrSplit(text.value_or(""), '\n');
}

// Instructions between the phase's symbol and the next phase's.
std::vector<std::string> PhaseLines(const std::vector<std::string>& lines,
                                    const std::string& phase) {
  std::vector<std::string> inside;
  bool in = false;
  for (const std::string& line : lines) {
    if (absl::StartsWith(line, "phase.")) in = line == phase + ":";
    if (in && absl::StartsWith(line, "    ") &&
        !absl::StartsWith(line, "    //"))
      inside.push_back(std::string(absl::StripLeadingAsciiWhitespace(line)));
  }
  return inside;
}

int CountOf(const std::vector<std::string>& lines, absl::string_view start) {
  int count = 0;
  for (const std::string& line : lines) count += absl::StartsWith(line, start);
  return count;
}

TEST(Fp8KernelTest, SameVariantSameBytesOtherVariantOthers) {
  std::set<std::string> texts;
  for (const Variant& variant : AllVariants()) {
    const auto text = GenerateFp8Kernel(variant);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(*text, *GenerateFp8Kernel(variant));
    EXPECT_TRUE(texts.insert(*text).second);
    EXPECT_THAT(*text,
                HasSubstr(".amdhsa_kernel zyfa_" + VariantName(variant)));
  }
}

TEST(Fp8KernelTest, RefusesHeadDimsWithoutALayout) {
  EXPECT_THAT(GenerateFp8Kernel({DataType::kFp8, 64, 64, Mask::kFull})
                  .status()
                  .message(),
              HasSubstr("head dims 64/64"));
}

// Packed fp32 arithmetic keeps the matrix pipe from issuing (cdna4-timing 1.3).
TEST(Fp8KernelTest, NoPackedArithmetic) {
  for (const Variant& variant : AllVariants()) {
    EXPECT_EQ(CountOf(Lines(variant), "    v_pk_"), 0) << VariantName(variant);
  }
}

// docs/schedule.md: what a plain trip spends on a tile's 32 scores a lane.
TEST(Fp8KernelTest, VectorWorkOfAPlainTrip) {
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(VariantName(variant));
    const auto vector = PhaseLines(Lines(variant), "phase.vector_plain_1_of_0");
    ASSERT_FALSE(vector.empty());
    EXPECT_EQ(CountOf(vector, "v_mfma"), 0);
    if (variant.probability == Probability::kLean) {
      // 6 clocks a score for P: a multiply-add, half a packing shift.
      EXPECT_EQ(CountOf(vector, "v_ashr_pk_u8_i32"), 16);
      EXPECT_LE(CountOf(vector, "v_fma_f32"), 32 + 3);
      EXPECT_EQ(CountOf(vector, "v_exp_f32"), 0);
    } else {
      // 10 clocks: an exponential, half a conversion.
      EXPECT_EQ(CountOf(vector, "v_exp_f32"), 32);
      EXPECT_EQ(CountOf(vector, "v_cvt_scalef32_pk_fp8_f32"), 16);
      EXPECT_LE(CountOf(vector, "v_fma_f32"), 1);
      EXPECT_EQ(CountOf(vector, "v_mul_f32"), 0);
    }
  }
}

TEST(Fp8KernelTest, MatrixPhaseHasNoVectorWork) {
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(VariantName(variant));
    const auto matrix = PhaseLines(Lines(variant), "phase.matrix_plain_1_of_0");
    const int products = variant.head_dim_qk / 64 * 2 + 4 + 1;
    EXPECT_EQ(CountOf(matrix, "v_mfma"), products);
    EXPECT_EQ(CountOf(matrix, "v_"), products);
    EXPECT_EQ(CountOf(matrix, "s_barrier"), 1);
  }
}

TEST(Fp8KernelTest, NamesItsPhases) {
  for (const Variant& variant : AllVariants()) {
    std::vector<std::string> phases;
    for (const std::string& line : Lines(variant)) {
      absl::string_view name = line;
      if (absl::ConsumePrefix(&name, "phase.") &&
          absl::ConsumeSuffix(&name, ":")) {
        phases.emplace_back(name);
      }
    }
    EXPECT_EQ(std::set<std::string>(phases.begin(), phases.end()).size(),
              phases.size());
    for (const char* name :
         {"entry", "item_table", "refill_item_table", "first_loads",
          "take_item", "first_meeting", "first_scores_0", "vector_plain_3_of_1",
          "matrix_plain_3_of_1", "vector_masked_plain_2", "first_matrix_1",
          "last_products_0", "no_tiles", "store", "idle"}) {
      EXPECT_THAT(phases, Contains(name)) << VariantName(variant);
    }
  }
}

}  // namespace
}  // namespace zyfa::gen

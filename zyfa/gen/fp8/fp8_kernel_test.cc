#include "zyfa/gen/fp8/fp8_kernel.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
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
       {Probability::kLean, Probability::kExact, Probability::kShift,
        Probability::kMultiply}) {
    const bool fp8 =
        probability == Probability::kLean || probability == Probability::kExact;
    const DataType type = fp8 ? DataType::kFp8 : DataType::kInt8;
    for (const int head_dim_qk : {128, 192}) {
      for (const Mask mask : {Mask::kCausal, Mask::kFull}) {
        all.push_back({type, head_dim_qk, 128, mask, probability});
      }
    }
  }
  return all;
}

bool IsInt8(const Variant& variant) {
  return variant.data_type == DataType::kInt8;
}

// Of a tile of 64 keys and a wave's 32 queries.
constexpr int kScoresOfALane = 64 * 32 / 64;

const std::vector<std::string>& Lines(const Variant& variant) {
  static auto& kernels = *new std::map<std::string, std::vector<std::string>>();
  std::vector<std::string>& lines = kernels[VariantName(variant)];
  if (lines.empty()) {
    const auto text = GenerateFp8Kernel(variant);
    EXPECT_TRUE(text.ok()) << text.status();
    lines = absl::StrSplit(text.value_or(""), '\n');
  }
  return lines;
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
    if (IsInt8(variant)) continue;
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

// docs/int8-scores.md: 4 clocks a score, or 8 with multipliers.
TEST(Fp8KernelTest, VectorWorkOfAPlainTripOfIntegers) {
  for (const Variant& variant : AllVariants()) {
    if (!IsInt8(variant)) continue;
    SCOPED_TRACE(VariantName(variant));
    const bool multiplies = variant.probability == Probability::kMultiply;
    for (const char* name : {"plain_0_of_0", "plain_1_of_0", "plain_3_of_1"}) {
      const auto vector =
          PhaseLines(Lines(variant), absl::StrCat("phase.vector_", name));
      // Each takes two scores, or one.
      const int maxima = CountOf(vector, "v_max3_i32");
      const int shifts = CountOf(vector, "v_ashr_pk_u8_i32");
      const int products = CountOf(vector, "v_mad_i32_i24");
      EXPECT_EQ(maxima, kScoresOfALane / 2);
      EXPECT_EQ(shifts, kScoresOfALane / 2);
      EXPECT_EQ(products, multiplies ? kScoresOfALane : 0);
      // The test, the tile's exponent, sums to begin with; three for the row's
      // sum of two halves and an exponent.
      EXPECT_LE(CountOf(vector, "v_"), maxima + shifts + products + 3 + 3);
      EXPECT_EQ(CountOf(vector, "v_cmp"), 1);
      EXPECT_EQ(CountOf(vector, "v_mfma"), 0);
      EXPECT_EQ(CountOf(vector, "v_smfmac"), 0);
      // Half of the codes go to a half that keeps the other.
      int high = 0;
      for (const std::string& line : vector) {
        high += absl::StartsWith(line, "v_ashr_pk_u8_i32") &&
                absl::StrContains(line, "op_sel:[0,0,0,1]");
      }
      EXPECT_EQ(high, shifts / 2);
    }
  }
}

TEST(Fp8KernelTest, MatrixPhaseHasNoVectorWork) {
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(VariantName(variant));
    const auto matrix = PhaseLines(Lines(variant), "phase.matrix_plain_1_of_0");
    // 32 keys and 64 channels each, of int8 32 channels.
    const int scores = variant.head_dim_qk / (IsInt8(variant) ? 32 : 64) * 2;
    const int outputs = 128 / 32;
    EXPECT_EQ(CountOf(matrix, "v_mfma"),
              scores + outputs + (IsInt8(variant) ? 0 : 1));
    EXPECT_EQ(CountOf(matrix, "v_mfma_i32_32x32x32_i8"),
              IsInt8(variant) ? scores : 0);
    EXPECT_EQ(CountOf(matrix, "v_smfmac_f32_16x16x128_fp8_fp8"),
              IsInt8(variant) ? 1 : 0);
    EXPECT_EQ(CountOf(matrix, "v_"), scores + outputs + 1);
    EXPECT_EQ(CountOf(matrix, "s_barrier"), 1);
  }
}

// The reference comes with the product, or with the multiplication behind it.
TEST(Fp8KernelTest, AddendsOfIntegerScores) {
  for (const Variant& variant : AllVariants()) {
    if (!IsInt8(variant)) continue;
    SCOPED_TRACE(VariantName(variant));
    int apart = 0, bare = 0;
    for (const std::string& line :
         PhaseLines(Lines(variant), "phase.matrix_plain_1_of_0")) {
      absl::string_view product = line;
      product = product.substr(0, product.find("//"));
      if (!absl::ConsumePrefix(&product, "v_mfma_i32_32x32x32_i8")) continue;
      const std::vector<std::string> operands =
          absl::StrSplit(absl::StripAsciiWhitespace(product), ", ");
      ASSERT_EQ(operands.size(), 4u) << line;
      bare += operands[3] == "0";
      apart += operands[3] != "0" && operands[3] != operands[0];
    }
    // Of the first product of each block of 32 keys.
    const bool multiplies = variant.probability == Probability::kMultiply;
    EXPECT_EQ(bare, multiplies ? 64 / 32 : 0);
    EXPECT_EQ(apart, multiplies ? 0 : 64 / 32);
  }
}

int Directive(const std::vector<std::string>& lines, absl::string_view name) {
  int value = -1;
  for (const std::string& line : lines) {
    absl::string_view rest = absl::StripLeadingAsciiWhitespace(line);
    if (absl::ConsumePrefix(&rest, name)) {
      EXPECT_TRUE(absl::SimpleAtoi(rest, &value)) << line;
    }
  }
  return value;
}

// A work-group of eight waves has a compute unit for itself: two waves a SIMD,
// of 512 registers, and 160 KiB of LDS (docs/schedule.md).
TEST(Fp8KernelTest, RegistersAndLds) {
  for (const Variant& variant : AllVariants()) {
    SCOPED_TRACE(VariantName(variant));
    const std::vector<std::string>& lines = Lines(variant);
    EXPECT_LE(Directive(lines, ".amdhsa_next_free_vgpr "), 512 / 2);
    EXPECT_GT(Directive(lines, ".amdhsa_next_free_vgpr "), 512 / 3);
    // Four tiles of K and V; each wave's 32 rows of the next item's Q or,
    // later, the first 128 bytes of the probe's 48 keys.
    const int row = variant.head_dim_qk;
    const int query = 32 * row;
    const int lds_of_wave = IsInt8(variant) ? std::max(query, 48 * 128) : query;
    int lds = 4 * 64 * (row + 128) + 8 * lds_of_wave;
    // Those of four tiles and a probe, in lines of 256 bytes for 8 keys.
    if (variant.probability == Probability::kMultiply) lds += 5 * 64 / 8 * 256;
    EXPECT_EQ(Directive(lines, ".amdhsa_group_segment_fixed_size "), lds);
    EXPECT_LE(lds, 160 * 1024);
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

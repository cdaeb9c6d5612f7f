// From bf16 to attention on the emulator: the device's quantiser, the FP8
// kernels, the LSE's correction; against float64 attention over the inputs as
// they were. Set M of numerics 8.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "zyfa/quantize/attention_run.h"
#include "zyfa/quantize/softmax_fold.h"

namespace zyfa {
namespace {

using testing::kRunHeads;
using testing::kRunRows;
using testing::kRunSeqlen;
using testing::kRunValueDim;
using testing::MakeRunInput;
using testing::RunInput;
using testing::RunOutcome;

// What a caller chooses.
struct Choice {
  std::string variant;
  bool fold = true;
  bool rotate = false;
  bool subtract_mean = false;
};

class AttentionTest : public testing::AttentionRun {
 protected:
  RunOutcome Run(const RunInput& in, const Choice& choice) {
    const float scale = 1 / std::sqrt(static_cast<float>(in.head_dim));
    const SoftmaxFold fold = *FoldSoftmaxScale(scale);
    const auto unit = [&](float folded) {
      return choice.fold ? std::optional<float>(folded) : std::nullopt;
    };
    QuantizeParams key = Pass(in.key, in.head_dim);
    key.options.unit = unit(1.0f);
    key.options.rotate = choice.rotate;
    key.options.subtract_mean = choice.subtract_mean;
    if (choice.subtract_mean) {
      key.mean = Allocate(static_cast<size_t>(kRunHeads * in.head_dim * 4));
    }
    Start(key);
    QuantizeParams query = Pass(in.query, in.head_dim);
    query.options.unit = unit(fold.unit);
    query.options.rotate = choice.rotate;
    uint64_t correction = 0;
    if (choice.subtract_mean) {
      correction = Allocate(kRunRows * 4);
      query.lse_correction = LseCorrection{
          .output = DenseLse(correction, 1, kRunHeads, kRunSeqlen),
          .key_mean = key.mean,
          .heads_kv = kRunHeads,
          .softmax_scale = scale};
    }
    Start(query);
    QuantizeParams value = Pass(in.value, kRunValueDim);
    Start(value);

    AttentionParams params;
    params.query = query.output;
    params.key = key.output;
    params.value = value.output;
    params.softmax_scale = choice.fold ? fold.softmax_scale : scale;
    params.query_descale = DenseScales(query.descale, 1, kRunHeads);
    params.key_descale = DenseScales(key.descale, 1, kRunHeads);
    params.value_descale = DenseScales(value.descale, 1, kRunHeads);
    params.variant = choice.variant;
    return Attend(
        in, params, correction,
        absl::StrCat(choice.variant, " fold ", choice.fold, " rotate ",
                     choice.rotate, " mean ", choice.subtract_mean));
  }
};

TEST_F(AttentionTest, ErrorsAreThoseOfTheInputs) {
  const RunInput in = MakeRunInput(128);
  for (const std::string p : {"lean", "exact"}) {
    const std::string variant = "fp8_" + p + "_d128_causal";
    const RunOutcome plain = Run(in, {variant, true, false, false});
    const RunOutcome rotated = Run(in, {variant, true, true, false});
    const RunOutcome mean = Run(in, {variant, true, false, true});
    const RunOutcome both = Run(in, {variant, true, true, true});
    // P adds less than .005, in squares.
    EXPECT_NEAR(plain.error, .074, .02);
    EXPECT_NEAR(rotated.error / plain.error, .044 / .074, .12);
    EXPECT_NEAR(mean.error / plain.error, .030 / .074, .12);
    EXPECT_NEAR(both.error / plain.error, .032 / .074, .12);
    // The LSE of a peaked row is off as its largest score is.
    EXPECT_LT(both.lse_error, .4 * plain.lse_error);
    EXPECT_LT(both.lse_error, .12);
    EXPECT_GT(both.uncorrected_lse_error, 1);
  }
}

TEST_F(AttentionTest, HeadDim192) {
  const RunInput in = MakeRunInput(192);
  for (const std::string p : {"lean", "exact"}) {
    const RunOutcome both =
        Run(in, {"fp8_" + p + "_d192x128_causal", true, true, true});
    EXPECT_LT(both.error, .04);
    EXPECT_LT(both.lse_error, .12);
  }
}

// With a power of two for a scale of scores exact P needs no multiplication a
// score; lean P has one instruction for it all in any case.
TEST_F(AttentionTest, FoldingSavesExactKernelsAMultiplicationAScore) {
  const RunInput in = MakeRunInput(128);
  const auto run = [&](const char* variant, bool fold) {
    return Run(in, {variant, fold, true, true});
  };
  const RunOutcome folded = run("fp8_exact_d128_causal", true);
  const RunOutcome plain = run("fp8_exact_d128_causal", false);
  EXPECT_NEAR(folded.error / plain.error, 1, .1);
  // A wave instruction has 64 scores; half of all pairs are visible, and masked
  // tiles, which multiply in any case, are few.
  constexpr double kScores = kRunHeads * kRunSeqlen * kRunSeqlen / 2.0;
  const auto saved = static_cast<double>(plain.vector_instructions) -
                     static_cast<double>(folded.vector_instructions);
  EXPECT_NEAR(saved / (kScores / 64), 1, .25);
  const RunOutcome lean = run("fp8_lean_d128_causal", true);
  const RunOutcome lean_plain = run("fp8_lean_d128_causal", false);
  EXPECT_NEAR(static_cast<double>(lean.vector_instructions) /
                  static_cast<double>(lean_plain.vector_instructions),
              1, .02);
}

}  // namespace
}  // namespace zyfa

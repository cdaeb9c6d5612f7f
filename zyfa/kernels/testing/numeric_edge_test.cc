// Score distributions on which attention kernels are known to fail.

#include <cmath>
#include <limits>
#include <optional>

#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/kernels/testing/attention_case.h"
#include "zyfa/kernels/testing/every_kernel.h"
#include "zyfa/kernels/testing/kernel_test.h"

namespace zyfa::testing {
namespace {

class NumericEdgeTest : public KernelTest {
 protected:
  static AttentionCase::Fill Constant(float value) {
    return [value](int64_t, int64_t, int64_t, int64_t, float) { return value; };
  }
  bool fp8() const { return GetParam().variant.data_type == DataType::kFp8; }
  // Scores of key k after the softmax scale, in steps that e4m3 can form.
  void SetFineScores(AttentionCase& c, std::function<double(int64_t)> score) {
    const double steps = fp8() ? 64 : 1;
    c.softmax_scale = static_cast<float>(1 / steps);
    SetScores(c, [score, steps](int64_t key) { return steps * score(key); });
  }
  // Of 100 queries, those that see none of the keys.
  void ExpectEmptyRows(int64_t seqlen_kv, std::optional<float> scale) const;
  void ExpectOnes(const AttentionCase& c) const {
    const auto got = RunCase(c);
    ASSERT_TRUE(got.ok()) << got.status();
    for (const numerics::Bf16 x : got->output) {
      // Two units in the last place of bf16 below 1, one above.
      ASSERT_NEAR(x.ToFloat(), 1.0f, 0x1p-7f);
    }
  }
};

TEST_P(NumericEdgeTest, ValuesOfOneGiveOne) {
  AttentionCase c = Case(300, 1500);
  c.fill_value = Constant(1.0f);
  ExpectOnes(c);
  // One logit at +8, the others 0.
  c.softmax_scale = 1.0f;
  SetScores(c, [](int64_t key) { return key == 3 ? 8.0 : 0.0; });
  ExpectOnes(c);
}

TEST_P(NumericEdgeTest, ZeroQueryGivesTheMeanForEveryLength) {
  // Causal: query i sees keys 0..i, so one run has every length (to 32768 in
  // zero_query_test). Full: one row for each of some lengths.
  AttentionCase c = Case(2048, 2048);
  c.fill_query = Constant(0.0f);
  const bool causal = c.variant.mask == Mask::kCausal;
  for (int64_t seqlen : {int64_t{2048}, int64_t{1}, int64_t{63}, int64_t{65},
                         int64_t{1000}, int64_t{32768}}) {
    c.seqlen_q = causal && seqlen == 2048 ? seqlen : 1;
    c.seqlen_kv = seqlen;
    // Means of n normal values are of size n^-1/2 and all weights are equal:
    // what remains is the rounding of the output.
    EXPECT_EQ(Verify(c), "");
  }
}

TEST_P(NumericEdgeTest, MaximumRisesFromTileToTile) {
  for (float per_key : {0.002f, 0.02f, 0.1f, 0.5f, 3.0f}) {
    AttentionCase c = Case(200, 900);
    SetFineScores(c, [per_key](int64_t key) { return per_key * key; });
    EXPECT_EQ(Verify(c), "") << per_key;
    SetFineScores(c, [per_key](int64_t key) { return -per_key * key; });
    EXPECT_EQ(Verify(c), "") << per_key;
  }
}

TEST_P(NumericEdgeTest, SpreadsOfLogits) {
  for (float spread : {0.25f, 0.5f, 1.0f, 2.0f, 3.0f}) {
    AttentionCase c = Case(130, 700);
    c.softmax_scale =
        spread / std::sqrt(static_cast<float>(c.variant.head_dim_qk));
    EXPECT_EQ(Verify(c), "") << spread;
  }
}

TEST_P(NumericEdgeTest, LargeKeysStayFinite) {
  AttentionCase c = Case(130, 700);
  c.fill_key = [](int64_t, int64_t, int64_t, int64_t, float g) {
    return 32 * g;
  };
  EXPECT_EQ(Verify(c), "");
}

TEST_P(NumericEdgeTest, AllLogitsFarBelowZero) {
  for (float level : {-7e4f, -3e6f, fp8() ? -2e7f : -1e30f}) {
    AttentionCase c = Case(70, 200);
    c.softmax_scale = 1.0f;
    SetScores(c, [level](int64_t) { return level; });
    EXPECT_EQ(Verify(c), "") << level;
  }
}

TEST_P(NumericEdgeTest, ProductOfScaleAndMaximumRoundsLikeTheScores) {
  // q.k = 128 * 133120^2: scaled, the maximum has no bits left for a fraction.
  for (float x : {133120.0f, 1e6f, 1e10f, 1e15f}) {
    AttentionCase c = Case(100, 300);
    c.fill_query = c.fill_key = c.fill_value = Constant(x);
    if (fp8()) {
      // The same products by descales.
      c.fill_query = c.fill_key = c.fill_value = Constant(416.0f);
      c.query_descale.value = c.key_descale.value =
          c.value_descale.value = [x](int64_t, int64_t) { return x / 416; };
    }
    // Of 1e10, it is beyond where the scale of FP8 scores is clamped.
    c.want_lse = !fp8() || x < 1e10f;
    EXPECT_EQ(Verify(c), "") << x;
  }
}

TEST_P(NumericEdgeTest, HugeScoresPickTheLargest) {
  // Growing, so that the careful path is entered in the middle of a row.
  AttentionCase c = Case(70, 400);
  const double unit = fp8() ? 300 : 1;
  c.softmax_scale = static_cast<float>(unit);
  SetScores(c, [unit](int64_t key) {
    return key == 170   ? 3e9 / unit
           : key == 300 ? 6e9 / unit
                        : static_cast<double>(key % 5);
  });
  EXPECT_EQ(Verify(c), "");
  // Neighbouring scores, with the difference scaled back into range.
  c.softmax_scale = fp8() ? 0.7f : 1e-4f;
  const double high = fp8() ? 16e6 : 0x1p40;
  const double low = fp8() ? high - 1 : high * (1 - 0x1p-8);
  SetScores(c, [high, low](int64_t key) { return key % 7 == 0 ? high : low; });
  EXPECT_EQ(Verify(c), "");
}

// The scaled maximum is rounded in fp32; what was summed under the old one must
// agree with what comes under the new one at every size.
TEST_P(NumericEdgeTest, MaximumMovesAtEverySize) {
  for (float level : {1e3f, 4e3f, 9e3f, 9.4e4f, 1.5e6f, 6e6f, 1.2e7f, 1.6e7f}) {
    AttentionCase c = Case(40, 600);
    for (float step : {6.0f, 7.0f, 13.0f}) {
      SetMovingMaximum(c, level, step);
      EXPECT_EQ(Verify(c), "") << level << " " << step;
    }
  }
}

TEST_P(NumericEdgeTest, EveryFiniteScale) {
  const float kScales[] = {0.0f,   -0.0f,
                           1e-42f, -1e-42f,
                           1e-30f, 0.01f,
                           -0.1f,  -1.0f,
                           30.0f,  -1e5f,
                           1e20f,  -1e30f,
                           3e38f,  -std::numeric_limits<float>::max()};
  for (float scale : kScales) {
    AttentionCase c = Case(100, 170);
    c.softmax_scale = scale;
    // Scores that are multiples of 1/4, exact in fp32, so that equal ones tie.
    c.fill_query = c.fill_key = [](int64_t, int64_t, int64_t, int64_t,
                                   float g) { return std::round(g) / 2; };
    // The LSE of such scales overflows fp32; of FP8 scores, the scale is
    // clamped to 2^60.
    c.want_lse = std::abs(scale) < (fp8() ? 1e17f : 1e30f);
    c.few_scores = true;
    EXPECT_EQ(Verify(c), "") << scale;
  }
}

TEST_P(NumericEdgeTest, RowsWithoutAKey) {
  for (std::optional<float> scale :
       {std::optional<float>(), std::optional<float>(0.0f),
        std::optional<float>(-1e-42f), std::optional<float>(-2.0f)}) {
    ExpectEmptyRows(30, scale);
    ExpectEmptyRows(0, scale);
  }
}

void NumericEdgeTest::ExpectEmptyRows(int64_t seqlen_kv,
                                      std::optional<float> scale) const {
  AttentionCase c = Case(100, seqlen_kv);
  c.softmax_scale = scale;
  const auto got = RunCase(c);
  ASSERT_TRUE(got.ok()) << got.status();
  const bool causal = c.variant.mask == Mask::kCausal;
  const int64_t empty = causal || seqlen_kv == 0 ? 100 - seqlen_kv : 0;
  for (int64_t row = 0; row < 100; ++row) {
    EXPECT_EQ(std::isinf(got->lse[row]), row < empty) << row;
    if (row >= empty) continue;
    EXPECT_LT(got->lse[row], 0);
    for (int64_t i = 0; i < c.variant.head_dim_v; ++i) {
      EXPECT_EQ(got->output[row * c.variant.head_dim_v + i].ToFloat(), 0.0f);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, NumericEdgeTest, EveryKernel(),
                         KernelTestName);

}  // namespace
}  // namespace zyfa::testing

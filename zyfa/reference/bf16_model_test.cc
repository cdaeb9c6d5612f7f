#include "zyfa/reference/bf16_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/expect_rows_alone.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"
#include "zyfa/reference/test_tensors.h"

namespace zyfa::reference {
namespace {

using numerics::Bf16;
using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();

AttentionProblem Problem(int64_t seqlen_q, int64_t seqlen_kv,
                         Mask mask = Mask::kCausal) {
  AttentionProblem p;
  p.seqlen_q = seqlen_q;
  p.seqlen_kv = seqlen_kv;
  p.mask = mask;
  p.softmax_scale = 1.0 / std::sqrt(128.0);
  return p;
}

AttentionResult Compute(const TestTensors& t,
                        const Bf16ModelOptions& options = {}) {
  const auto result =
      Bf16Attention(t.p, t.query(), t.key(), t.value(), options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : AttentionResult();
}

AttentionResult RunFloat64(const TestTensors& t,
                           const AttentionOptions& options = {}) {
  return Attention(t.p, t.query(), t.key(), t.value(), options).value();
}

double RelativeRmse(const AttentionResult& actual,
                    const AttentionResult& expected, int64_t dim) {
  return numerics::CompareToReference(actual.output, expected.output, dim)
      ->relative_rmse;
}

// Two independent roundings decide the error on Gaussian inputs: of P and of
// the output. A rounding to 8 significant bits errs by up to half of 2^-7 of a
// binade, evenly; over mantissas spread evenly on a log scale that is, root
// mean square over root mean square, 2^-7 / sqrt(12 * 3 / (2 ln 2)).
const double kRounding = 0x1p-7 / std::sqrt(18.0 / std::log(2.0));

TEST(Bf16ModelTest, ErrorOnGaussianInputs) {
  for (int64_t dim_qk : {128, 192}) {
    AttentionProblem p = Problem(4096, 4096);
    p.head_dim_qk = dim_qk;
    p.softmax_scale = 1.0 / std::sqrt(static_cast<double>(dim_qk));
    const TestTensors t(p);
    Bf16ModelOptions options;
    options.attention.rows.emplace();
    for (int64_t i = 31; i < 4096; i += 32) {
      options.attention.rows->push_back(i);
    }
    const AttentionResult exact = RunFloat64(t, options.attention);
    AttentionResult rounded = exact;
    for (double& x : rounded.output) {
      x = Bf16::FromFloat(static_cast<float>(x)).ToFloat();
    }
    const double output_rounding = RelativeRmse(rounded, exact, 128);
    EXPECT_NEAR(output_rounding, kRounding, 0.07 * kRounding);
    const double all = RelativeRmse(Compute(t, options), exact, 128);
    EXPECT_NEAR(all, std::sqrt(2.0) * kRounding, 0.07 * kRounding);
  }
}

TEST(Bf16ModelTest, LogSumExpIsFp32Accurate) {
  const TestTensors t(Problem(200, 500));
  const AttentionResult model = Compute(t);
  const AttentionResult exact = RunFloat64(t);
  for (size_t i = 0; i < exact.lse.size(); ++i) {
    EXPECT_NEAR(model.lse[i], exact.lse[i], 3e-6);
  }
}

TEST(Bf16ModelTest, OutputIsBf16AndLseIsFp32) {
  const AttentionResult result = Compute(TestTensors(Problem(50, 100)));
  for (double x : result.output) {
    const float f = static_cast<float>(x);
    EXPECT_EQ(x, Bf16::FromFloat(f).ToFloat());
  }
  for (double x : result.lse) EXPECT_EQ(x, static_cast<float>(x));
}

// The model step by step for one row whose scores are exact by construction.
TEST(Bf16ModelTest, OneRowByHand) {
  AttentionProblem p = Problem(1, 3);
  p.head_dim_qk = 1;
  p.head_dim_v = 1;
  p.softmax_scale = std::log(2.0);  // scores are binades
  TestTensors t(p);
  const float q[] = {1.0f};
  const float k[] = {0.0f, -0.5f, -3.25f};
  const float v[] = {1.0f, 64.0f, -8.0f};
  t.q[0] = Bf16::FromFloat(q[0]);
  for (int j = 0; j < 3; ++j) {
    t.k[j] = Bf16::FromFloat(k[j]);
    t.v[j] = Bf16::FromFloat(v[j]);
  }
  // sqrt(1/2) = 181.02 / 256 and 2^-3.25 = 215.27 / 2048 round to 181 and 215.
  const double sum = 1.0 + std::sqrt(0.5) + std::exp2(-3.25);  // unrounded
  const double expected = (1.0 + 64.0 * 181 / 256 - 8.0 * 215 / 2048) / sum;
  const AttentionResult result = Compute(t);
  EXPECT_EQ(result.output[0],
            Bf16::FromFloat(static_cast<float>(expected)).ToFloat());
  EXPECT_NEAR(result.lse[0], std::log(sum), 1e-6);
}

// A lazy maximum: keys of rising score, one a tile, 3.25 binades apart.
TEST(Bf16ModelTest, RescaleThreshold) {
  AttentionProblem p = Problem(1, 4);
  p.head_dim_qk = p.head_dim_v = 1;
  p.softmax_scale = std::log(2.0);
  TestTensors t(p);
  t.q[0] = Bf16::FromFloat(1.0f);
  // The last two values nearly cancel, so that the roundings of P show.
  const float scores[] = {0.0f, 3.25f, 6.5f, 9.75f};
  const float values[] = {0.0f, 0.0f, 1.0f, -215.0f / 2048};
  for (int j = 0; j < 4; ++j) {
    t.k[j] = Bf16::FromFloat(scores[j]);
    t.v[j] = Bf16::FromFloat(values[j]);
  }
  // Weights of the last two keys, in units of 2^-9.75 as they were rounded:
  // with the exact maximum each was 1 when it came. Against the key two before,
  // key 3 is 2^3.25 = 9.514, 152 sixteenths in bf16; against key 0 they are
  // 2^6.5 = 90.51, 181 halves, and 2^9.75 = 861.1, 215 fours. The sum is not
  // rounded.
  const double sum =
      std::exp2(-9.75) + std::exp2(-6.5) + std::exp2(-3.25) + 1.0;
  const struct {
    double binades;
    double weight2;
    double weight3;
  } kCases[] = {{0.0, std::exp2(-3.25), 1.0},
                {3.0, std::exp2(-3.25), 1.0},
                {5.0, std::exp2(-3.25), 152.0 / 16 * std::exp2(-3.25)},
                {12.0, 181 * 0.5 * std::exp2(-9.75), 860 * std::exp2(-9.75)},
                {64.0, 181 * 0.5 * std::exp2(-9.75), 860 * std::exp2(-9.75)}};
  for (const auto& c : kCases) {
    Bf16ModelOptions options;
    options.key_tile = 1;
    options.rescale_binades = c.binades;
    const AttentionResult result = Compute(t, options);
    const double expected = (c.weight2 - c.weight3 * 215 / 2048) / sum;
    EXPECT_NEAR(result.output[0], expected, 0x1p-8 * expected) << c.binades;
    EXPECT_NEAR(result.lse[0], std::log(sum) + 9.75 * std::log(2.0), 1e-6);
  }
}

TEST(Bf16ModelTest, TileSizeIsOnlyRounding) {
  const TestTensors t(Problem(100, 300));
  const AttentionResult exact = RunFloat64(t);
  for (int64_t tile : {1, 7, 16, 64, 100, 128, 512}) {
    Bf16ModelOptions options;
    options.key_tile = tile;
    const double error = RelativeRmse(Compute(t, options), exact, 128);
    EXPECT_GT(error, 1.5e-3) << tile;
    EXPECT_LT(error, 3e-3) << tile;
  }
}

TEST(Bf16ModelTest, ClosedForms) {
  TestTensors ones(Problem(100, 130));
  ones.SetValues(1.0f);
  // The denominator is of the unrounded weights: near 1, within the rounding.
  for (double x : Compute(ones).output) EXPECT_NEAR(x, 1.0, 0x1p-7);

  const TestTensors one_key(Problem(5, 1, Mask::kFull));
  const AttentionResult result = Compute(one_key);
  for (int64_t i = 0; i < 5 * 128; ++i) {
    EXPECT_EQ(result.output[i], one_key.v[i % 128].ToFloat());
  }

  // Equal weights are exactly 1: the mean of V, rounded once.
  AttentionProblem flat = Problem(2, 256, Mask::kFull);
  flat.softmax_scale = 0.0;
  TestTensors t(flat);
  for (size_t i = 0; i < t.v.size(); ++i) {
    t.v[i] = Bf16::FromFloat(static_cast<float>(i / 128));
  }
  for (double x : Compute(t).output) {
    EXPECT_EQ(x, Bf16::FromFloat(127.5f).ToFloat());
  }
}

TEST(Bf16ModelTest, LargeEqualLogits) {
  AttentionProblem p = Problem(130, 130);
  TestTensors t(p);
  const Bf16 large = Bf16::FromFloat(133120.0f);
  for (auto* x : {&t.q, &t.k, &t.v}) std::fill(x->begin(), x->end(), large);
  for (double x : Compute(t).output) EXPECT_EQ(x, 133120.0);
}

TEST(Bf16ModelTest, RowsWithoutKeysAndNegativeOrHugeScales) {
  const TestTensors empty(Problem(10, 3));
  const AttentionResult result = Compute(empty);
  for (int64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(result.lse[i] == -kInf, i < 7);
    EXPECT_EQ(result.output[i * 128] == 0.0, i < 7);
  }
  for (double scale : {-0.1, -3.0, 1e300, -1e300, 1e-300, 1e-42}) {
    AttentionProblem p = Problem(70, 100);
    p.softmax_scale = scale;
    const TestTensors t(p);
    EXPECT_LT(RelativeRmse(Compute(t), RunFloat64(t), 128), 3e-3) << scale;
  }
}

TEST(Bf16ModelTest, ThreadsAndSelectedRowsDoNotMatter) {
  AttentionProblem p = Problem(100, 150);
  p.heads_q = 4;
  p.heads_kv = 2;
  const TestTensors t(p);
  ExpectRowsAlone([&](const AttentionOptions& attention) {
    Bf16ModelOptions options;
    options.attention = attention;
    return Compute(t, options);
  });
}

TEST(Bf16ModelTest, RefusalsNameTheArgument) {
  const TestTensors t(Problem(4, 4));
  const auto message = [&](const Bf16ModelOptions& options) {
    return std::string(
        Bf16Attention(t.p, t.query(), t.key(), t.value(), options)
            .status()
            .message());
  };
  EXPECT_THAT(message({.key_tile = 0}), HasSubstr("key_tile is 0; allowed: 1"));
  EXPECT_THAT(message({.key_tile = 65537}), HasSubstr("key_tile is 65537"));
  for (double binades : {-1.0, 65.0, std::nan("")}) {
    EXPECT_THAT(message({.rescale_binades = binades}),
                HasSubstr("rescale_binades is"));
  }
  const std::vector<float> f(4 * 128);
  const TensorView floats = TensorView::Dense(f.data(), 4, 1, 128);
  EXPECT_THAT(
      Bf16Attention(t.p, t.query(), floats, t.value()).status().message(),
      HasSubstr("key has another element type; allowed: Bf16"));
  AttentionProblem p = t.p;
  p.softmax_scale = kInf;
  EXPECT_THAT(
      Bf16Attention(p, t.query(), t.key(), t.value()).status().message(),
      HasSubstr("softmax_scale is inf"));
}

}  // namespace
}  // namespace zyfa::reference

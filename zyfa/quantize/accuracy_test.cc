// What the passes cost, as attention's error in float64: the table of
// numerics 8 (set M, one scale a tensor, causal) on a shorter sequence.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/quantize/accuracy_case.h"
#include "zyfa/quantize/host_quantize.h"
#include "zyfa/quantize/softmax_fold.h"
#include "zyfa/reference/attention.h"

namespace zyfa {
namespace {

using numerics::Bf16;

constexpr int64_t kHeads = testing::kAccuracyHeads;
constexpr int64_t kSeqlen = testing::kAccuracySeqlen;

// What codes and descales stand for; plain values without options.
std::vector<double> Values(const std::optional<QuantizeOptions>& options,
                           const QuantizeExtent& e,
                           const std::vector<Bf16>& x) {
  if (!options.has_value()) return testing::Plain(x);
  std::vector<double> out(x.size());
  const auto t = QuantizeOnHost(*options, e, x);
  EXPECT_TRUE(t.ok()) << t.status();
  if (!t.ok()) return out;
  const auto dim = static_cast<size_t>(e.head_dim);
  const auto heads = static_cast<size_t>(e.heads);
  const auto seqlen = static_cast<size_t>(e.seqlen);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t head = i / dim % heads, seq = i / dim / heads;
    size_t scale = 0;
    if (options->granularity == ScaleGranularity::kToken) {
      scale = head * seqlen + seq;
    } else if (options->granularity != ScaleGranularity::kTensor) {
      scale = head;
    }
    out[i] = double{t->codes[i].ToFloat()} * double{t->descales[scale]};
  }
  return out;
}

class AccuracyTest : public ::testing::Test {
 protected:
  void Use(const std::string& set, int64_t head_dim) {
    in_ = testing::MakeAccuracyInput(set, head_dim);
    exact_ = testing::AttendInDouble(in_, testing::Plain(in_.query),
                                     testing::Plain(in_.key),
                                     testing::Plain(in_.value));
  }
  // Relative error of the output with Q, K and V quantised or, without
  // options, as they are.
  double Error(const std::string& name, const std::optional<QuantizeOptions>& q,
               const std::optional<QuantizeOptions>& k,
               const std::optional<QuantizeOptions>& v) {
    return testing::PrintError(
        name,
        testing::AttendInDouble(in_, Values(q, in_.qk, in_.query),
                                Values(k, in_.qk, in_.key),
                                Values(v, in_.v, in_.value)),
        exact_);
  }

  testing::AccuracyInput in_;
  reference::AttentionResult exact_;
};

constexpr QuantizeOptions kPlain;
constexpr QuantizeOptions kRotate = {ScaleGranularity::kTensor, std::nullopt,
                                     true, false};
constexpr QuantizeOptions kMean = {ScaleGranularity::kTensor, std::nullopt,
                                   false, true};
constexpr QuantizeOptions kBoth = {ScaleGranularity::kTensor, std::nullopt,
                                   true, true};

TEST_F(AccuracyTest, SetM) {
  Use("M", 128);
  const double value = Error("V", {}, {}, kPlain);
  const double query = Error("Q", kPlain, {}, {});
  const double plain_qk = Error("Q, K", kPlain, kPlain, {});
  const double rotated_qk = Error("Q, K rotated", kRotate, kRotate, {});
  const double mean_qk = Error("Q, K without mean", kPlain, kMean, {});
  const double plain = Error("all", kPlain, kPlain, kPlain);
  const double rotated = Error("all, rotated", kRotate, kRotate, kPlain);
  const double mean = Error("all, without mean", kPlain, kMean, kPlain);
  const double both = Error("all, both", kRotate, kBoth, kPlain);
  QuantizeOptions tokens = kPlain;
  tokens.granularity = ScaleGranularity::kToken;
  const double token = Error("all, a scale a token", tokens, tokens, tokens);
  QuantizeOptions fold_q = kRotate;
  fold_q.unit = FoldSoftmaxScale(1 / std::sqrt(128.0f))->unit;
  QuantizeOptions power_k = kRotate;
  power_k.unit = 1.0f;
  const double folded = Error("all, rotated, folded", fold_q, power_k, kPlain);

  EXPECT_NEAR(value, .022, .004);
  EXPECT_NEAR(query, .014, .003);
  EXPECT_NEAR(plain_qk, .072, .02);
  EXPECT_NEAR(rotated_qk / plain_qk, .038 / .072, .12);
  EXPECT_NEAR(mean_qk / plain_qk, .021 / .072, .12);
  EXPECT_NEAR(plain, .075, .02);
  EXPECT_NEAR(rotated / plain, .044 / .075, .12);
  EXPECT_NEAR(mean / plain, .030 / .075, .12);
  EXPECT_NEAR(both / plain, .032 / .075, .12);
  EXPECT_NEAR(token / plain, .058 / .075, .15);
  // Folding costs nothing.
  EXPECT_NEAR(folded / rotated, 1, .1);
}

TEST_F(AccuracyTest, SetsXAndD) {
  const struct {
    const char* set;
    double plain, rotated, mean;
  } kSets[] = {{"X", .075, .041, .028}, {"D", .069, .037, .021}};
  for (const auto& want : kSets) {
    Use(want.set, 128);
    const std::string name = want.set;
    EXPECT_NEAR(Error(name + ": all", kPlain, kPlain, kPlain), want.plain, .02);
    EXPECT_NEAR(Error(name + ": all, rotated", kRotate, kRotate, kPlain),
                want.rotated, .012);
    EXPECT_NEAR(Error(name + ": all, without mean", kPlain, kMean, kPlain),
                want.mean, .012);
  }
}

TEST_F(AccuracyTest, HeadDim192) {
  Use("M", 192);
  const double plain = Error("192: Q, K", kPlain, kPlain, {});
  const double rotated = Error("192: Q, K rotated", kRotate, kRotate, {});
  EXPECT_NEAR(rotated / plain, .028 / .051, .15);
}

// The correction gives the LSE of the keys as they were.
TEST_F(AccuracyTest, LseCorrection) {
  Use("M", 128);
  const float scale = 1 / std::sqrt(128.0f);
  const auto k = QuantizeOnHost(kMean, in_.qk, in_.key);
  ASSERT_TRUE(k.ok()) << k.status();
  const auto correction =
      LseCorrectionOnHost(in_.qk, in_.query, kHeads, k->mean, scale);
  ASSERT_TRUE(correction.ok()) << correction.status();
  const std::vector<double> query = Values({}, in_.qk, in_.query);
  const std::vector<double> value = Values({}, in_.v, in_.value);
  const auto worst = [&](const std::vector<double>& key, bool corrected) {
    const auto got = testing::AttendInDouble(in_, query, key, value);
    const size_t rows = got.lse.size() / kHeads;
    double off = 0;
    for (size_t h = 0; h < kHeads; ++h) {
      for (size_t i = 0; i < rows; ++i) {
        const float add = (*correction)[h * kSeqlen + 31 + 64 * i];
        const double lse = got.lse[h * rows + i] + (corrected ? add : 0.0f);
        off = std::max(off, std::fabs(lse - exact_.lse[h * rows + i]));
      }
    }
    return off;
  };
  std::vector<double> without_mean = Values({}, in_.qk, in_.key);
  for (size_t i = 0; i < without_mean.size(); ++i) {
    without_mean[i] -= double{k->mean[i % k->mean.size()]};
  }
  EXPECT_LT(worst(without_mean, true), 1e-4);
  EXPECT_GT(worst(without_mean, false), 1);
  // What is left of codes is the rounding of scores, smaller than without the
  // subtraction.
  const double plain = worst(Values(kPlain, in_.qk, in_.key), false);
  const double mean = worst(Values(kMean, in_.qk, in_.key), true);
  std::printf("LSE of codes: %.3f off, without the mean %.3f\n", plain, mean);
  EXPECT_LT(mean, plain);
}

}  // namespace
}  // namespace zyfa

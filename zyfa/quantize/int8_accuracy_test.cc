// What the INT8 passes over Q and K cost, as attention's error in float64, and
// beside it FP8's: the sets of int8-qk 3 (a scale a head, exact P and V,
// causal) on a shorter sequence.

#include <cmath>
#include <cstdio>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/quantize/accuracy_case.h"
#include "zyfa/quantize/host_int8.h"
#include "zyfa/quantize/host_quantize.h"
#include "zyfa/reference/attention.h"

namespace zyfa {
namespace {

using numerics::Bf16;

constexpr auto kHeads = static_cast<size_t>(testing::kAccuracyHeads);
constexpr auto kSeqlen = static_cast<size_t>(testing::kAccuracySeqlen);

struct Preparation {
  bool rotate = false;
  bool subtract_mean = false;
};
constexpr Preparation kPlain, kRotated = {true, false}, kMean = {false, true},
                              kBoth = {true, true};

enum Form { kFp8, kShift, kMultiplier };

class Int8AccuracyTest : public ::testing::Test {
 protected:
  void Use(const std::string& set, int64_t head_dim = 128) {
    set_ = set;
    in_ = testing::MakeAccuracyInput(set, head_dim);
    value_ = testing::Plain(in_.value);
    exact_ = testing::AttendInDouble(in_, testing::Plain(in_.query),
                                     testing::Plain(in_.key), value_);
  }

  // Relative error of the output.
  double Error(Form form, const Preparation& how,
               const std::optional<QuantizeCalibration>& calibration = {}) {
    constexpr const char* kForms[] = {"FP8", "INT8 shift", "INT8 multiplier"};
    const std::string name = set_ + ", " + kForms[form] +
                             (how.rotate ? ", rotated" : "") +
                             (how.subtract_mean ? ", without mean" : "") +
                             (calibration.has_value() ? ", calibrated" : "");
    if (form == kFp8) {
      return Print(name, Fp8(in_.query, {how.rotate, false}),
                   Fp8(in_.key, how));
    }
    const bool multipliers = form == kMultiplier;
    const auto keys = QuantizeKeysInt8OnHost(
        {ScaleGranularity::kHead, multipliers, how.rotate, how.subtract_mean},
        in_.qk, in_.key, calibration);
    EXPECT_TRUE(keys.ok()) << keys.status();
    const auto scale = static_cast<float>(1 / std::sqrt(Dim()));
    const auto queries = QuantizeQueriesInt8OnHost(
        {how.rotate, scale, testing::kAccuracyHeads, multipliers}, in_.qk,
        in_.query, keys->descales);
    EXPECT_TRUE(queries.ok()) << queries.status();
    std::vector<double> q(in_.query.size()), k(q.size());
    for (size_t i = 0; i < q.size(); ++i) {
      const size_t head = i / Dim() % kHeads, token = i / Dim() / kHeads;
      const size_t row = head * kSeqlen + token;
      const double step =
          double{keys->descales[head]} / (multipliers ? 255 : 1);
      k[i] = keys->codes[i] * step * (multipliers ? keys->multipliers[row] : 1);
      // Attention in float64 has the softmax scale; here it is in the codes.
      q[i] = std::ldexp(queries->codes[i], -queries->shifts[row] - 3) /
             (std::numbers::log2e * step) * std::sqrt(double(Dim()));
    }
    return Print(name, q, k);
  }

  // What a pass over the first tokens measures, descales `margin` times as
  // large.
  Int8Keys Prefix(int64_t tokens, const Preparation& how, float margin) {
    QuantizeExtent e = in_.qk;
    e.seqlen = tokens;
    const auto prefix = QuantizeKeysInt8OnHost(
        {ScaleGranularity::kHead, false, how.rotate, how.subtract_mean}, e,
        absl::MakeConstSpan(in_.key).subspan(
            0, static_cast<size_t>(e.elements())));
    EXPECT_TRUE(prefix.ok()) << prefix.status();
    Int8Keys out = *prefix;
    for (float& d : out.descales) d *= margin;
    return out;
  }

 private:
  size_t Dim() const { return static_cast<size_t>(in_.qk.head_dim); }

  std::vector<double> Fp8(const std::vector<Bf16>& x, const Preparation& how) {
    const auto t = QuantizeOnHost(
        {ScaleGranularity::kHead, std::nullopt, how.rotate, how.subtract_mean},
        in_.qk, x);
    EXPECT_TRUE(t.ok()) << t.status();
    std::vector<double> out(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      out[i] = double{t->codes[i].ToFloat()} *
               double{t->descales[i / Dim() % kHeads]};
    }
    return out;
  }

  double Print(const std::string& name, const std::vector<double>& q,
               const std::vector<double>& k) {
    return testing::PrintError(name, testing::AttendInDouble(in_, q, k, value_),
                               exact_);
  }

  std::string set_;
  testing::AccuracyInput in_;
  std::vector<double> value_;
  reference::AttentionResult exact_;
};

// Lines of the study, for 16K tokens: "FP8, mean + Hadamard"; "INT8 row 2^n /
// head" without and with preprocessing; "row free / token", which no integers
// reach, and "row 2^n / 64-key block", which multipliers of tokens do better
// than.
TEST_F(Int8AccuracyTest, ErrorsAreThoseOfTheStudy) {
  const struct {
    const char* set;
    double fp8, shift_plain, shift, token_floor, block;
  } kSets[] = {{"G", .039, .0155, .0150, .0094, .0131},
               {"M", .025, .0157, .0081, .0045, .0071},
               {"X", .022, .0174, .0085, .0046, .0068},
               {"V", .0094, .0068, .0034, .0019, .0027},
               {"D", .017, .0135, .0061, .0040, .0051}};
  for (const auto& want : kSets) {
    Use(want.set);
    double errors[3][4];
    for (const Form form : {kFp8, kShift, kMultiplier}) {
      int i = 0;
      for (const Preparation& how : {kPlain, kRotated, kMean, kBoth}) {
        errors[form][i++] = Error(form, how);
      }
    }
    EXPECT_NEAR(errors[kFp8][3] / want.fp8, 1, .3);
    EXPECT_NEAR(errors[kShift][0] / want.shift_plain, 1, .3);
    EXPECT_NEAR(errors[kShift][3] / want.shift, 1, .3);
    EXPECT_GT(errors[kMultiplier][3], want.token_floor);
    EXPECT_LT(errors[kMultiplier][3], 1.3 * want.block);
    for (int i = 0; i < 4; ++i) {
      EXPECT_LT(errors[kShift][i], .5 * errors[kFp8][i]) << i;
      EXPECT_LT(errors[kMultiplier][i], .95 * errors[kShift][i]) << i;
    }
  }
}

TEST_F(Int8AccuracyTest, HeadDim192) {
  Use("M", 192);
  const double fp8 = Error(kFp8, kBoth);
  const double shift = Error(kShift, kBoth);
  EXPECT_LT(shift, .5 * fp8);
  EXPECT_LT(Error(kMultiplier, kBoth), shift);
}

// Mean and descale of the first 256 tokens, for a cache that is written token
// by token: clipping costs much, a margin little, and with multipliers nothing.
TEST_F(Int8AccuracyTest, CalibratedByAPrefix) {
  for (const char* set : {"M", "X", "D"}) {
    Use(set);
    const auto calibrated = [&](Form form, float margin) {
      const Int8Keys prefix = Prefix(256, kBoth, margin);
      std::printf("margin %.2f: ", double{margin});
      return Error(form, kBoth,
                   QuantizeCalibration{prefix.descales, prefix.mean});
    };
    const double shift = Error(kShift, kBoth);
    EXPECT_GT(calibrated(kShift, 1.0f), 1.3 * shift);
    EXPECT_LT(calibrated(kShift, 1.25f), 1.2 * shift);
    EXPECT_LT(calibrated(kShift, 1.5f), 1.4 * shift);
    const double multiplier = Error(kMultiplier, kBoth);
    EXPECT_GT(calibrated(kMultiplier, 1.0f), 1.3 * multiplier);
    EXPECT_LT(calibrated(kMultiplier, 1.5f), 1.2 * multiplier);
    EXPECT_LT(calibrated(kMultiplier, 3.0f), 1.2 * multiplier);
  }
}

}  // namespace
}  // namespace zyfa

#include "zyfa/bench/layer_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/bench/made_layer.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {
namespace {

using models::CapturedLayer;
using numerics::Bf16;

constexpr int64_t kSeqlen = 300;

// 4 query heads on 2 KV heads, whose sizes differ, with a mean key.
CapturedLayer Layer(int64_t dim) {
  const auto made = MadeLayer("G", kSeqlen, 4, 100);
  EXPECT_TRUE(made.ok()) << made.status();
  CapturedLayer layer{.seqlen = kSeqlen,
                      .heads_q = 4,
                      .heads_kv = 2,
                      .head_dim_qk = dim,
                      .head_dim_v = 128};
  for (int64_t s = 0; s < kSeqlen; ++s) {
    for (int64_t h = 0; h < 4; ++h) {
      for (int64_t c = 0; c < dim; ++c) {
        const auto from = static_cast<size_t>((s * 4 + h) * 128 + c % 128);
        const float factor = h == 1 ? 5.0f : 1.0f;
        layer.query.push_back(
            Bf16::FromFloat(made->query[from].ToFloat() * factor));
        if (h >= 2) continue;
        layer.key.push_back(
            Bf16::FromFloat((made->key[from].ToFloat() + .4f) * factor));
        if (c < 128) layer.value.push_back(made->value[from]);
      }
    }
  }
  return layer;
}

// Score of a query and a key, by the plain formula.
double Score(const HeadNumbers& n, int64_t dim, int64_t q, int64_t k) {
  double sum = 0.0;
  for (int64_t c = 0; c < dim; ++c) {
    sum += n.query[static_cast<size_t>(q * dim + c)] *
           n.key[static_cast<size_t>(k * dim + c)];
  }
  return sum / std::sqrt(static_cast<double>(dim));
}

HeadNumbers Captured(const CapturedLayer& layer, int64_t head) {
  const CapturedLayer one = HeadOf(layer, head);
  HeadNumbers numbers;
  for (const Bf16 x : one.query) numbers.query.push_back(x.ToFloat());
  for (const Bf16 x : one.key) numbers.key.push_back(x.ToFloat());
  for (const Bf16 x : one.value) numbers.value.push_back(x.ToFloat());
  return numbers;
}

std::vector<Preparation> EveryPreparation() {
  std::vector<Preparation> all = {{}};
  for (const DataType type : {DataType::kFp8, DataType::kInt8}) {
    for (const ScalesOf scales :
         {ScalesOf::kTensor, ScalesOf::kHead, ScalesOf::kToken}) {
      for (const bool mean : {false, true}) {
        for (const bool rotate : {false, true}) {
          all.push_back({type, mean, rotate, scales});
        }
      }
    }
  }
  return all;
}

// Preparing leaves the differences of a row's scores as they are, rounding
// changes them by what the format rounds. That is so for each head only if it
// met its own keys, scales, shifts and multipliers.
TEST(LayerInputsTest, ScoresAreThoseOfTheLayer) {
  for (const int64_t dim : {128, 192}) {
    const CapturedLayer layer = Layer(dim);
    for (const Preparation& p : EveryPreparation()) {
      SCOPED_TRACE(Quantisation(p));
      const auto inputs = LayerInputs::Make(layer, p);
      ASSERT_TRUE(inputs.ok()) << inputs.status();
      for (int64_t head = 0; head < 4; ++head) {
        const HeadNumbers captured = Captured(layer, head);
        const auto unrounded = inputs->Unrounded(head);
        ASSERT_TRUE(unrounded.ok()) << unrounded.status();
        const HeadNumbers rounded = inputs->Rounded(head);
        EXPECT_EQ(unrounded->value, captured.value);
        // The mean key over the keys.
        double mean = 0.0, rms = 0.0;
        for (int64_t c = 0; c < dim; ++c) {
          double sum = 0.0;
          for (int64_t t = 0; t < kSeqlen; ++t) {
            sum += unrounded->key[static_cast<size_t>(t * dim + c)];
          }
          mean += std::pow(sum / kSeqlen, 2);
        }
        for (const double x : unrounded->key) rms += x * x / kSeqlen;
        EXPECT_EQ(std::sqrt(mean / rms) < 1e-5, p.subtract_mean);
        double plain_error = 0.0, error = 0.0, square = 0.0;
        for (int64_t q = 5; q < kSeqlen; q += 31) {
          for (int64_t k = 3; k < kSeqlen; k += 17) {
            const auto relative = [&](const HeadNumbers& n) {
              return Score(n, dim, q, k) - Score(n, dim, q, 1);
            };
            const double want = relative(captured);
            plain_error += std::pow(relative(*unrounded) - want, 2);
            error += std::pow(relative(rounded) - want, 2);
            square += want * want;
          }
        }
        EXPECT_LT(std::sqrt(plain_error / square), 1e-5);
        const double relative_error = std::sqrt(error / square);
        if (p.data_type == DataType::kBf16) {
          EXPECT_LT(relative_error, 1e-6);
        } else {
          EXPECT_LT(relative_error, .1);
          EXPECT_GT(relative_error, 1e-4);
        }
        double value_error = 0.0, largest = 0.0;
        for (size_t i = 0; i < captured.value.size(); ++i) {
          value_error = std::max(
              value_error, std::abs(rounded.value[i] - captured.value[i]));
          largest = std::max(largest, std::abs(captured.value[i]));
        }
        EXPECT_LE(value_error, largest / 16);
      }
    }
  }
}

// What the kernel of a head is handed is the same numbers.
TEST(LayerInputsTest, KernelsAreGivenTheRoundedNumbers) {
  const CapturedLayer layer = Layer(128);
  for (const Preparation& p : EveryPreparation()) {
    if (p.data_type == DataType::kFp8 && p.scales == ScalesOf::kToken) continue;
    SCOPED_TRACE(Quantisation(p));
    const auto inputs = LayerInputs::Make(layer, p);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    for (int64_t head = 0; head < 4; ++head) {
      const Inputs in = inputs->Head(head);
      const HeadNumbers rounded = inputs->Rounded(head);
      for (const auto& [q, k] :
           {std::pair<int64_t, int64_t>(7, 3), {200, 199}, {299, 0}}) {
        double score = 0.0;
        for (int64_t c = 0; c < 128; ++c) {
          score += double{in.query[static_cast<size_t>(q * 128 + c)]} *
                   double{in.key[static_cast<size_t>(k * 128 + c)]};
        }
        if (p.data_type == DataType::kInt8) {
          // Eighths of a binade by 2^-shift.
          score *= std::exp2(-in.query_shifts[static_cast<size_t>(q)] - 3.0) *
                   0.6931471805599453;
          if (!in.key_multipliers.empty()) {
            score *= in.key_multipliers[static_cast<size_t>(k)];
          }
        } else {
          score *= double{in.softmax_scale} * double{in.query_descale} *
                   double{in.key_descale};
        }
        const double want = Score(rounded, 128, q, k);
        EXPECT_NEAR(score, want, 1e-6 * std::max(1.0, std::abs(want)));
      }
      for (const size_t i : {size_t{0}, size_t{12345}}) {
        EXPECT_NEAR(double{in.value[i]} * double{in.value_descale},
                    rounded.value[i], 1e-7);
      }
    }
  }
}

TEST(LayerInputsTest, DescribesWhatItDoes) {
  EXPECT_EQ(Quantisation({}), "none");
  EXPECT_EQ(Quantisation({DataType::kFp8, false, true, ScalesOf::kTensor}),
            "Q and K rotated; e4m3: Q and K a power of two a tensor with the "
            "softmax scale in Q's, V a scale a tensor");
  EXPECT_EQ(Quantisation(Prepared(DataType::kInt8, ScalesOf::kToken)),
            "mean key removed, Q and K rotated; int8: Q a power of two a row, "
            "K a scale a head and a multiplier a token; V e4m3, a scale a "
            "head");
}

}  // namespace
}  // namespace zyfa::bench

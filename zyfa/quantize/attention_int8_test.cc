// From bf16 to attention on the emulator: the device's quantiser, the INT8
// kernels, the LSE's correction; against float64 attention over the inputs as
// they were, and against the error that follows from the formats. Set M of
// numerics 8.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "zyfa/quantize/attention_run.h"

namespace zyfa {
namespace {

using numerics::Bf16;
using testing::kRunHeads;
using testing::kRunRows;
using testing::kRunSeqlen;
using testing::kRunValueDim;
using testing::MakeRunInput;
using testing::RunInput;
using testing::RunOutcome;

// What a caller chooses.
struct Choice {
  bool multiply = false;
  bool rotate = false;
  bool subtract_mean = false;
};

using Rows = std::vector<std::vector<double>>;

// A head's tokens.
Rows HeadOf(const std::vector<Bf16>& x, int64_t head, int64_t dim) {
  Rows rows;
  for (int64_t token = 0; token < kRunSeqlen; ++token) {
    const auto first = x.begin() + (token * kRunHeads + head) * dim;
    std::vector<double>& row = rows.emplace_back();
    std::transform(first, first + dim, std::back_inserter(row),
                   [](Bf16 b) { return double{b.ToFloat()}; });
  }
  return rows;
}

void SubtractMean(Rows& rows) {
  std::vector<double> mean(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      mean[i] += row[i] / static_cast<double>(rows.size());
    }
  }
  for (auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) row[i] -= mean[i];
  }
}

// Hadamard's matrix of a power of two, which turns every row alike.
void Rotate(Rows& rows) {
  for (auto& row : rows) {
    ASSERT_TRUE(std::has_single_bit(row.size()));
    for (size_t step = 1; step < row.size(); step *= 2) {
      for (size_t i = 0; i < row.size(); ++i) {
        if ((i & step) != 0) continue;
        const double a = row[i], b = row[i + step];
        row[i] = (a + b) * std::numbers::sqrt2 / 2;
        row[i + step] = (a - b) * std::numbers::sqrt2 / 2;
      }
    }
  }
}

double Largest(const std::vector<double>& row) {
  double largest = 0;
  for (const double x : row) largest = std::max(largest, std::abs(x));
  return largest;
}
double Largest(const Rows& rows) {
  double largest = 0;
  for (const auto& row : rows) largest = std::max(largest, Largest(row));
  return largest;
}
double Norm2(const std::vector<double>& row) {
  double sum = 0;
  for (const double x : row) sum += x * x;
  return sum;
}

double Distance2(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// The mean of rows under weights.
std::vector<double> Mean(const std::vector<double>& weights, const Rows& rows) {
  std::vector<double> mean(rows[0].size());
  for (size_t j = 0; j < weights.size(); ++j) {
    for (size_t c = 0; c < mean.size(); ++c) mean[c] += weights[j] * rows[j][c];
  }
  return mean;
}

// Mean squares of rounding errors of a head's rows.
struct Roundings {
  std::vector<double> key;    // of a channel
  std::vector<double> value;  // of all channels together
  double unit = 0;            // what a unit of an integer score stands for in Q
};

// A rounding to steps is off by step^2 / 12 in the mean of squares.
Roundings RoundingsOf(const Rows& key, const Rows& value, bool multiply) {
  Roundings r;
  const double descale = Largest(key) / 127;
  r.unit = descale / (multiply ? 255 : 1);
  for (const auto& row : key) {
    const double m =
        multiply ? std::clamp(std::ceil(Largest(row) / descale / 127 * 255),
                              1.0, 255.0)
                 : 1.0;
    r.key.push_back(m * r.unit * m * r.unit / 12);
  }
  const double value_unit = Largest(value) / 448;
  for (const auto& row : value) {
    double& error = r.value.emplace_back();
    for (const double v : row) {
      // e4m3 has 3 bits behind the first, and denormals below 2^-6.
      const int exponent =
          v == 0 ? -6 : std::max(std::ilogb(v / value_unit), -6);
      const double step = std::ldexp(value_unit, exponent - 3);
      error += step * step / 12;
    }
  }
  return r;
}

// To first order, with roundings independent of each other. Weights w of keys
// are relatively off by what their scores are, less what all have in common,
// and by the rounding of P, .031 (error limits of the kernels' tests); so the
// output o, the mean of v under them, is off by the sum of
//   w^2 (scores' + .031^2) |v - o|^2 + w^2 |v's rounding|^2
// and the LSE by the sum of w^2 (scores' + .031^2) and what scores have in
// common.
class Predictor {
 public:
  // Every 16th row of a head.
  void Add(Rows query, Rows key, const Rows& value, const Choice& choice) {
    if (choice.subtract_mean) SubtractMean(key);
    if (choice.rotate) {
      Rotate(query);
      Rotate(key);
    }
    const Roundings r = RoundingsOf(key, value, choice.multiply);
    for (size_t i = 15; i < query.size(); i += 16) {
      AddRow(query[i], key, value, r, i + 1);
    }
  }

  double error() const { return std::sqrt(squares_ / output_squares_); }
  double lse_error() const { return std::sqrt(lse_squares_ / rows_); }

 private:
  void AddRow(const std::vector<double>& query, const Rows& key,
              const Rows& value, const Roundings& r, size_t keys) {
    const double scale = 1 / std::sqrt(static_cast<double>(query.size()));
    std::vector<double> weights;
    double largest = -INFINITY, sum = 0;
    for (size_t j = 0; j < keys; ++j) {
      double dot = 0;
      for (size_t c = 0; c < query.size(); ++c) dot += query[c] * key[j][c];
      weights.push_back(dot * scale);
      largest = std::max(largest, weights.back());
    }
    for (double& w : weights) sum += w = std::exp(w - largest);
    for (double& w : weights) w /= sum;
    const std::vector<double> output = Mean(weights, value);
    const std::vector<double> mean_key = Mean(weights, key);
    // Codes of Q are q * factor * 2^s, as large as they may be.
    const double factor = 8 * std::numbers::log2e * scale * r.unit;
    const double s = std::clamp(
        std::floor(std::log2(127.49 / (factor * Largest(query)))), 0.0, 20.0);
    const double query_error = std::pow(1 / (factor * std::exp2(s)), 2) / 12;
    for (size_t j = 0; j < keys; ++j) {
      const double score_error =
          scale * scale *
          (r.key[j] * Norm2(query) + query_error * Distance2(key[j], mean_key));
      const double weight_error =
          weights[j] * weights[j] * (score_error + .031 * .031);
      squares_ += weight_error * Distance2(value[j], output) +
                  weights[j] * weights[j] * r.value[j];
      lse_squares_ += weight_error;
    }
    lse_squares_ += scale * scale * query_error * Norm2(mean_key);
    output_squares_ += Norm2(output);
    ++rows_;
  }

  double squares_ = 0, output_squares_ = 0, lse_squares_ = 0, rows_ = 0;
};

Predictor Predict(const RunInput& in, const Choice& choice) {
  Predictor predictor;
  for (int64_t h = 0; h < kRunHeads; ++h) {
    predictor.Add(HeadOf(in.query, h, in.head_dim),
                  HeadOf(in.key, h, in.head_dim),
                  HeadOf(in.value, h, kRunValueDim), choice);
  }
  std::printf("  predicted: error %.4f, LSE %.4f\n", predictor.error(),
              predictor.lse_error());
  return predictor;
}

class AttentionInt8Test : public testing::AttentionRun {
 protected:
  RunOutcome Run(const RunInput& in, const Choice& choice) {
    QuantizeKeysInt8Params key;
    key.input = Upload(in.key, in.head_dim);
    key.output = AllocateCodes(in.head_dim, DataType::kInt8);
    key.options = {.token_multipliers = choice.multiply,
                   .rotate = choice.rotate,
                   .subtract_mean = choice.subtract_mean};
    key.descale = Allocate(kRunHeads * 4);
    if (choice.subtract_mean) {
      key.mean = Allocate(static_cast<size_t>(kRunHeads * in.head_dim * 4));
    }
    if (choice.multiply) {
      key.multipliers =
          DenseTokens(Allocate(kRunRows * 4), 1, kRunHeads, kRunSeqlen, 4);
    }
    Start(key);

    QuantizeQueriesInt8Params query;
    query.input = Upload(in.query, in.head_dim);
    query.output = AllocateCodes(in.head_dim, DataType::kInt8);
    query.options = {
        .rotate = choice.rotate,
        .softmax_scale = 1 / std::sqrt(static_cast<float>(in.head_dim)),
        .heads_kv = kRunHeads,
        .multipliers = choice.multiply};
    query.key_descale = key.descale;
    query.shifts = DenseTokens(Allocate(kRunRows), 1, kRunHeads, kRunSeqlen, 1);
    uint64_t correction = 0;
    if (choice.subtract_mean) {
      correction = Allocate(kRunRows * 4);
      query.lse_correction = LseCorrection{
          .output = DenseLse(correction, 1, kRunHeads, kRunSeqlen),
          .key_mean = key.mean,
          .heads_kv = kRunHeads,
          .softmax_scale = query.options.softmax_scale};
    }
    const absl::Status status = Quantize(query, device());
    EXPECT_TRUE(status.ok()) << status;
    QuantizeParams value = Pass(in.value, kRunValueDim);
    Start(value);

    AttentionParams params;
    params.query = query.output;
    params.key = key.output;
    params.value = value.output;
    params.value_descale = DenseScales(value.descale, 1, kRunHeads);
    params.query_shift = query.shifts;
    if (choice.multiply) params.key_multiplier = key.multipliers;
    return Attend(in, params, correction,
                  absl::StrCat("int8 multiply ", choice.multiply, " rotate ",
                               choice.rotate, " mean ", choice.subtract_mean));
  }
};

void ExpectPredicted(const RunOutcome& got, const Predictor& predicted) {
  EXPECT_NEAR(got.error / predicted.error(), 1, .05);
  // Where most weight is on one key, its code is better than others.
  EXPECT_LE(got.lse_error, 1.05 * predicted.lse_error());
  EXPECT_GE(got.lse_error, .6 * predicted.lse_error());
}

TEST_F(AttentionInt8Test, ErrorsFollowFromTheFormats) {
  const RunInput in = MakeRunInput(128);
  for (const bool multiply : {false, true}) {
    for (const bool rotate : {false, true}) {
      for (const bool subtract_mean : {false, true}) {
        const Choice choice = {multiply, rotate, subtract_mean};
        const RunOutcome got = Run(in, choice);
        ExpectPredicted(got, Predict(in, choice));
        EXPECT_EQ(got.uncorrected_lse_error > 1, subtract_mean);
      }
    }
  }
}

TEST_F(AttentionInt8Test, HeadDim192) {
  const RunInput in = MakeRunInput(192);
  for (const bool multiply : {false, true}) {
    const Choice choice = {multiply, false, true};
    ExpectPredicted(Run(in, choice), Predict(in, choice));
    // A rotation without a mean to turn is worth little.
    const RunOutcome rotated = Run(in, {multiply, true, true});
    ExpectPredicted(rotated, Predict(in, choice));
  }
}

}  // namespace
}  // namespace zyfa

#include "zyfa/numerics/real_like.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/numerics/elementary.h"
#include "zyfa/numerics/random.h"

namespace zyfa::numerics {
namespace {

constexpr int kLatent = 64;  // dimensions of the hidden state behind q, k and v
constexpr int kTopics = 48;
constexpr int kVocabulary = 4096;
constexpr double kMeanSegment = 256.0;  // tokens that share a topic
constexpr double kShare = 0.25;  // correlation of the Q and K projections
constexpr int kOutlierChannels = 8;
constexpr double kOutlierSize = 12.0;
constexpr double kRopeBase = 1e6;
constexpr double kSinkValueSize = 0.05;

constexpr int64_t kMaxSeqlen = int64_t{1} << 24;
constexpr int kMaxHeadDim = 4096;

// Streams of the seed, one for each thing drawn.
enum Stream : uint64_t {
  kTopicVectors,
  kTokenVectors,
  kSegments,
  kTokens,
  kNoise,
  kProjections,
  kBumpPhases,
  kOutliers,
  kValues,
};

// Row-major.
struct Matrix {
  Matrix(int64_t rows_in, int64_t cols_in)
      : rows(rows_in),
        cols(cols_in),
        data(static_cast<size_t>(rows_in * cols_in)) {}
  double* row(int64_t i) { return data.data() + i * cols; }
  const double* row(int64_t i) const { return data.data() + i * cols; }

  int64_t rows;
  int64_t cols;
  std::vector<double> data;
};

Matrix GaussianMatrix(RandomSequence& random, int64_t rows, int64_t cols,
                      double stddev) {
  Matrix m(rows, cols);
  for (double& x : m.data) x = stddev * random.Gaussian();
  return m;
}

Matrix Multiply(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (int64_t i = 0; i < a.rows; ++i) {
    double* out = c.row(i);
    for (int64_t k = 0; k < a.cols; ++k) {
      const double x = a.row(i)[k];
      const double* in = b.row(k);
      for (int64_t j = 0; j < b.cols; ++j) out[j] += x * in[j];
    }
  }
  return c;
}

double Dot(const double* a, const double* b, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Rows first, first + step, ...
Matrix EveryRow(const Matrix& m, int64_t first, int64_t step) {
  Matrix out((m.rows - first + step - 1) / step, m.cols);
  for (int64_t i = 0; i < out.rows; ++i) {
    std::copy_n(m.row(first + i * step), m.cols, out.row(i));
  }
  return out;
}

Matrix Transpose(const Matrix& m) {
  Matrix out(m.cols, m.rows);
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j < m.cols; ++j) out.row(j)[i] = m.row(i)[j];
  }
  return out;
}

std::vector<double> MeanRow(const Matrix& m, int64_t first) {
  std::vector<double> mean(m.cols, 0.0);
  for (int64_t i = first; i < m.rows; ++i) {
    for (int64_t j = 0; j < m.cols; ++j) mean[j] += m.row(i)[j];
  }
  for (double& x : mean) x /= static_cast<double>(m.rows - first);
  return mean;
}

double Mean(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) /
         static_cast<double>(v.size());
}

double StandardDeviation(const std::vector<double>& v) {
  const double mean = Mean(v);
  double sum = 0.0;
  for (double x : v) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(v.size()));
}

// base^exponent for base > 0.
double Power(double base, double exponent) {
  return Exp2(exponent * (Log(base) * kLog2E));
}

// Draws index i in 0..count-1 with probability proportional to (i+1)^-exponent.
class Zipf {
 public:
  Zipf(int count, double exponent) : cumulative_(count) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
      sum += Power(i + 1, -exponent);
      cumulative_[i] = sum;
    }
  }
  int64_t Draw(RandomSequence& random) const {
    const double u = random.Uniform() * cumulative_.back();
    const auto it = std::upper_bound(cumulative_.begin(), cumulative_.end(), u);
    return std::min<int64_t>(it - cumulative_.begin(), cumulative_.size() - 1);
  }

 private:
  std::vector<double> cumulative_;
};

// The hidden states: topic of the segment + token + noise.
Matrix HiddenStates(int64_t seqlen, uint64_t seed) {
  RandomSequence topic_random(seed, kTopicVectors);
  RandomSequence token_random(seed, kTokenVectors);
  const Matrix topics = GaussianMatrix(topic_random, kTopics, kLatent, 1.0);
  const Matrix tokens = GaussianMatrix(token_random, kVocabulary, kLatent, 1.0);
  const Zipf topic_choice(kTopics, 0.7);
  const Zipf token_choice(kVocabulary, 1.1);

  RandomSequence segments(seed, kSegments);
  RandomSequence token_draws(seed, kTokens);
  RandomSequence noise(seed, kNoise);
  Matrix hidden(seqlen, kLatent);
  int64_t left = 0;
  int64_t topic = 0;
  for (int64_t i = 0; i < seqlen; ++i) {
    if (left == 0) {
      // Geometric with mean kMeanSegment, by inversion; at least 1.
      left = 1 + static_cast<int64_t>(Log(segments.Uniform()) /
                                      Log(1.0 - 1.0 / kMeanSegment));
      topic = topic_choice.Draw(segments);
    }
    --left;
    const int64_t token = token_choice.Draw(token_draws);
    for (int j = 0; j < kLatent; ++j) {
      hidden.row(i)[j] = 0.6 * topics.row(topic)[j] +
                         0.6 * tokens.row(token)[j] + 0.53 * noise.Gaussian();
    }
  }
  return hidden;
}

void ApplyRope(Matrix& m, int rotary) {
  const int half = rotary / 2;
  for (int c = 0; c < half; ++c) {
    const double turns_per_row =
        Power(kRopeBase, -static_cast<double>(c) / half) / kTwoPi;
    for (int64_t i = 0; i < m.rows; ++i) {
      const SinCos angle =
          SinCosOfTurns(static_cast<double>(i) * turns_per_row);
      const double a = m.row(i)[c];
      const double b = m.row(i)[c + half];
      m.row(i)[c] = a * angle.cos - b * angle.sin;
      m.row(i)[c + half] = a * angle.sin + b * angle.cos;
    }
  }
}

void AddToRows(Matrix& m, const std::vector<double>& offset) {
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j < m.cols; ++j) m.row(i)[j] += offset[j];
  }
}

// Puts a vector into key 0 whose mean score lies params.sink binades above that
// of the other keys: their mean, moved along the mean query.
void PlantSink(const Matrix& q, Matrix& k, double sink) {
  const int64_t d = q.cols;
  const double unit = kLog2E / std::sqrt(static_cast<double>(d));
  const std::vector<double> mean_query = MeanRow(q, q.rows / 8);
  const std::vector<double> mean_key = MeanRow(k, 1);
  const Matrix queries = EveryRow(q, 0, 61);
  // The mean of all products is the product of the means.
  const std::vector<double> query_sample = MeanRow(queries, 0);
  const std::vector<double> key_sample = MeanRow(EveryRow(k, 1, 37), 0);
  const double mean_score =
      Dot(query_sample.data(), key_sample.data(), d) * unit;
  const double base_score = Dot(query_sample.data(), mean_key.data(), d) * unit;
  const double gain = Dot(query_sample.data(), mean_query.data(), d) * unit;
  const double step = (mean_score + sink - base_score) / gain;
  for (int64_t j = 0; j < d; ++j) {
    k.row(0)[j] = mean_key[j] + mean_query[j] * step;
  }
}

std::vector<float> ToFloats(const Matrix& m) {
  return std::vector<float>(m.data.begin(), m.data.end());
}

absl::Status Refuse(absl::string_view name, int64_t value,
                    absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, "; allowed: ", allowed));
}

}  // namespace

absl::StatusOr<RealLikeParams> RealLikeSet(absl::string_view name) {
  if (name == "M") return RealLikeParams{14.0, 2.5, 14.0, 0.5};
  if (name == "X") return RealLikeParams{10.0, 2.2, 12.0, 0.5};
  if (name == "V") return RealLikeParams{6.0, 1.8, 12.0, 1.5};
  if (name == "D") return RealLikeParams{10.0, 1.6, 6.0, 0.3};
  if (name == "E") return RealLikeParams{20.0, 1.4, 6.0, 0.3};
  return absl::InvalidArgumentError(
      absl::StrCat("name is '", name, "'; allowed: M, X, V, D, E"));
}

absl::StatusOr<RealLikeHead> MakeRealLikeHead(const RealLikeParams& params,
                                              int64_t seqlen, int head_dim_qk,
                                              int head_dim_v, uint64_t seed) {
  if (seqlen < 64 || seqlen > kMaxSeqlen) {
    return Refuse("seqlen", seqlen, "64 .. 2^24");
  }
  if (head_dim_qk < 16 || head_dim_qk > kMaxHeadDim || head_dim_qk % 16 != 0) {
    return Refuse("head_dim_qk", head_dim_qk, "multiples of 16 in 16 .. 4096");
  }
  if (head_dim_v < 1 || head_dim_v > kMaxHeadDim) {
    return Refuse("head_dim_v", head_dim_v, "1 .. 4096");
  }
  const int d = head_dim_qk;
  const double root_d = std::sqrt(static_cast<double>(d));
  const Matrix hidden = HiddenStates(seqlen, seed);

  // Content: two projections of the hidden state that have kShare in common.
  RandomSequence projections(seed, kProjections);
  const double latent_scale = 1.0 / std::sqrt(static_cast<double>(kLatent));
  const Matrix project_k =
      GaussianMatrix(projections, kLatent, d, latent_scale);
  Matrix project_q = GaussianMatrix(projections, kLatent, d, latent_scale);
  const double own = std::sqrt(1.0 - kShare * kShare);
  for (size_t i = 0; i < project_q.data.size(); ++i) {
    project_q.data[i] = kShare * project_k.data[i] + own * project_q.data[i];
  }
  Matrix k = Multiply(hidden, project_k);
  Matrix q = Multiply(hidden, project_q);
  const Matrix sample =
      Multiply(EveryRow(q, 0, 17), Transpose(EveryRow(k, 0, 13)));
  const double gain = std::sqrt(
      params.spread / (kLog2E * StandardDeviation(sample.data) / root_d));
  for (double& x : q.data) x *= gain;
  for (double& x : k.data) x *= gain;

  // Locality: equal offsets of q and k in the fast rotary pairs.
  const int rotary = std::min(d, 128);
  const int half = rotary / 2;
  const int fast = half / 2;
  std::vector<double> offset_q(d, 0.0);
  RandomSequence phases(seed, kBumpPhases);
  const double amplitude = std::sqrt(params.locality * root_d / kLog2E / fast);
  for (int c = 0; c < fast; ++c) {
    const SinCos phase = SinCosOfTurns(phases.Uniform());
    offset_q[c] = amplitude * phase.cos;
    offset_q[c + half] = amplitude * phase.sin;
  }
  std::vector<double> offset_k = offset_q;

  // Outliers: constant offsets in some of the slowest rotary pairs.
  RandomSequence outliers(seed, kOutliers);
  std::vector<int> slow(half / 8);
  std::iota(slow.begin(), slow.end(), 0);
  const int count = std::min<int>(kOutlierChannels, slow.size());
  for (int i = 0; i < count; ++i) {
    std::swap(slow[i], slow[i + outliers.Index(slow.size() - i)]);
    const int channel = half - 1 - slow[i];
    const double sign_k = outliers.Index(2) == 0 ? -1.0 : 1.0;
    const double sign_q = outliers.Index(2) == 0 ? -sign_k : sign_k;
    offset_k[channel] += kOutlierSize * sign_k;
    offset_q[channel] += 0.25 * kOutlierSize * sign_q;
  }
  AddToRows(q, offset_q);
  AddToRows(k, offset_k);
  ApplyRope(q, rotary);
  ApplyRope(k, rotary);
  PlantSink(q, k, params.sink);

  RandomSequence values(seed, kValues);
  const Matrix common =
      GaussianMatrix(values, 1, head_dim_v, params.value_mean);
  const Matrix project_v =
      GaussianMatrix(values, kLatent, head_dim_v, 0.8 * latent_scale);
  Matrix v = Multiply(hidden, project_v);
  for (double& x : v.data) x += 0.4 * values.Gaussian();
  AddToRows(v, common.data);
  for (int j = 0; j < head_dim_v; ++j) {
    v.row(0)[j] = kSinkValueSize * values.Gaussian();
  }
  return RealLikeHead{ToFloats(q), ToFloats(k), ToFloats(v)};
}

}  // namespace zyfa::numerics

#include "zyfa/models/attention.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "zyfa/numerics/elementary.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"
#include "zyfa/reference/tiled_attention.h"

namespace zyfa::models {
namespace {

constexpr int64_t kKeyTile = 64;
// Independent chains of sums and maxima: what a compiler makes vectors of.
constexpr int64_t kLanes = 16;

// 2^x for x <= 0, within 2e-7 relative; 0 below 2^-126.
inline float Exp2NotAboveOne(float x) {
  constexpr float kRounder = 0x1.8p23f;  // x + kRounder has no fraction left
  const float shifted = x + kRounder;
  const float whole = shifted - kRounder;
  const float y = (x - whole) * static_cast<float>(numerics::kLn2);
  // Taylor series of e^y, |y| <= 0.347; what is left out is below 2e-8.
  float sum = 1.0f / 5040.0f;
  sum = sum * y + 1.0f / 720.0f;
  sum = sum * y + 1.0f / 120.0f;
  sum = sum * y + 1.0f / 24.0f;
  sum = sum * y + 1.0f / 6.0f;
  sum = sum * y + 0.5f;
  sum = sum * y + 1.0f;
  sum = sum * y + 1.0f;
  // The low bits of `shifted` are the exponent.
  const uint32_t exponent = std::bit_cast<uint32_t>(shifted) << 23;
  const float power =
      std::bit_cast<float>(exponent + std::bit_cast<uint32_t>(1.0f));
  return x < -126.0f ? 0.0f : sum * power;
}

class Float32Softmax : public reference::PlainSoftmax<float> {
 public:
  struct Row {
    float max = -std::numeric_limits<float>::infinity();
    float sum = 0.0f;
  };

  explicit Float32Softmax(const reference::AttentionProblem& problem)
      : PlainSoftmax(problem),
        scale_log2_(
            static_cast<float>(problem.softmax_scale * numerics::kLog2E)) {}

  float Weigh(Row& row, float* scores, int64_t count) const {
    float maxima[kLanes];
    std::fill_n(maxima, kLanes, row.max);
    const int64_t whole = count / kLanes * kLanes;
    for (int64_t i = 0; i < whole; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const float score = scores[i + lane];
        maxima[lane] = maxima[lane] < score ? score : maxima[lane];
      }
    }
    for (int64_t i = whole; i < count; ++i) {
      maxima[i - whole] = std::max(maxima[i - whole], scores[i]);
    }
    const float max = *std::max_element(maxima, maxima + kLanes);
    const float factor =
        max > row.max ? Exp2NotAboveOne((row.max - max) * scale_log2_) : 1.0f;
    row.max = max;

    float sums[kLanes] = {};
    for (int64_t i = 0; i < whole; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const float weight =
            Exp2NotAboveOne((scores[i + lane] - max) * scale_log2_);
        scores[i + lane] = weight;
        sums[lane] += weight;
      }
    }
    for (int64_t i = whole; i < count; ++i) {
      scores[i] = Exp2NotAboveOne((scores[i] - max) * scale_log2_);
      sums[i - whole] += scores[i];
    }
    float sum = 0.0f;
    for (const float s : sums) sum += s;
    row.sum = row.sum * factor + sum;
    return factor;
  }

  void Finish(const Row& row, const float* accumulated, int64_t count,
              double* output, double* lse) const {
    for (int64_t i = 0; i < count; ++i) output[i] = accumulated[i] / row.sum;
    *lse = (double{row.max} * scale_log2_ + std::log2(double{row.sum})) *
           numerics::kLn2;
  }

 private:
  float scale_log2_;
};

}  // namespace

AttentionFunction Float32Attention(int threads) {
  return [threads](const LayerAttention& layer, absl::Span<float> output) {
    using reference::TensorView;
    const reference::AttentionProblem problem = {
        .heads_q = layer.heads_q,
        .heads_kv = layer.heads_kv,
        .seqlen_q = layer.seqlen,
        .seqlen_kv = layer.seqlen,
        .head_dim_qk = layer.head_dim_qk,
        .head_dim_v = layer.head_dim_v,
        .softmax_scale = layer.softmax_scale};
    const reference::AttentionOptions options = {.threads = threads};
    const auto view = [&layer](absl::Span<const float> tensor, int64_t heads,
                               int64_t head_dim) {
      return TensorView::Dense(tensor.data(), layer.seqlen, heads, head_dim);
    };
    const TensorView query =
        view(layer.query, layer.heads_q, layer.head_dim_qk);
    const TensorView key = view(layer.key, layer.heads_kv, layer.head_dim_qk);
    const TensorView value =
        view(layer.value, layer.heads_kv, layer.head_dim_v);
    if (absl::Status status =
            reference::Validate(problem, query, key, value, options);
        !status.ok()) {
      return status;
    }
    const reference::AttentionResult result = reference::TiledAttention<float>(
        problem, query, key, value, options, kKeyTile, Float32Softmax(problem));
    std::copy(result.output.begin(), result.output.end(), output.begin());
    return absl::OkStatus();
  };
}

}  // namespace zyfa::models

#include "zyfa/reference/bf16_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/elementary.h"
#include "zyfa/reference/tiled_attention.h"

namespace zyfa::reference {
namespace {

using numerics::Bf16;

constexpr int64_t kMaxKeyTile = 65536;
constexpr double kMaxRescaleBinades = 64.0;

// A scale too large for fp32 becomes the largest float: all weight on the top.
float ToFloatClamped(double x) {
  return static_cast<float>(
      std::min<double>(x, std::numeric_limits<float>::max()));
}

float Exp2(float x) { return static_cast<float>(numerics::Exp2(x)); }

class Bf16Softmax : public PlainSoftmax<float> {
 public:
  struct Row {
    float max = -std::numeric_limits<float>::infinity();
    float sum = 0.0f;
  };

  Bf16Softmax(const AttentionProblem& problem, const Bf16ModelOptions& options)
      : PlainSoftmax(problem),
        scale_(ToFloatClamped(std::abs(problem.softmax_scale))),
        scale_log2_(
            ToFloatClamped(std::abs(problem.softmax_scale) * numerics::kLog2E)),
        rescale_binades_(static_cast<float>(options.rescale_binades)),
        round_output_(options.round_output) {}

  float Weigh(Row& row, float* scores, int64_t count) const {
    float max = row.max;
    for (int64_t i = 0; i < count; ++i) max = std::max(max, scores[i]);
    float factor = 1.0f;
    if (row.sum == 0.0f) {
      row.max = max;
    } else if ((max - row.max) * scale_log2_ > rescale_binades_) {
      factor = Exp2((row.max - max) * scale_log2_);
      row.max = max;
    }
    float sum = 0.0f;
    for (int64_t i = 0; i < count; ++i) {
      const float p = Exp2((scores[i] - row.max) * scale_log2_);
      sum += p;
      scores[i] = Bf16::FromFloat(p).ToFloat();
    }
    row.sum = row.sum * factor + sum;
    return factor;
  }

  void Finish(const Row& row, const float* accumulated, int64_t count,
              double* output, double* lse) const {
    for (int64_t i = 0; i < count; ++i) {
      const float quotient = accumulated[i] / row.sum;
      output[i] =
          round_output_ ? Bf16::FromFloat(quotient).ToFloat() : quotient;
    }
    const float log_sum = static_cast<float>(std::log(double{row.sum}));
    *lse = scale_ * row.max + log_sum;
  }

 private:
  float scale_;
  float scale_log2_;
  float rescale_binades_;
  bool round_output_;
};

}  // namespace

absl::StatusOr<AttentionResult> Bf16Attention(const AttentionProblem& problem,
                                              const TensorView& query,
                                              const TensorView& key,
                                              const TensorView& value,
                                              const Bf16ModelOptions& options) {
  const absl::Status status =
      Validate(problem, query, key, value, options.attention);
  if (!status.ok()) return status;
  for (const auto& [name, view] :
       {std::pair<absl::string_view, const TensorView*>("query", &query),
        {"key", &key},
        {"value", &value}}) {
    if (!view->is_bf16()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " has another element type; allowed: Bf16"));
    }
  }
  if (options.key_tile < 1 || options.key_tile > kMaxKeyTile) {
    return absl::InvalidArgumentError(absl::StrCat(
        "key_tile is ", options.key_tile, "; allowed: 1 .. ", kMaxKeyTile));
  }
  if (!(options.rescale_binades >= 0.0 &&
        options.rescale_binades <= kMaxRescaleBinades)) {
    return absl::InvalidArgumentError(
        absl::StrCat("rescale_binades is ", options.rescale_binades,
                     "; allowed: 0 .. ", kMaxRescaleBinades));
  }
  return TiledAttention<float>(problem, query, key, value, options.attention,
                               options.key_tile, Bf16Softmax(problem, options));
}

}  // namespace zyfa::reference

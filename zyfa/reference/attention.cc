#include "zyfa/reference/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "zyfa/reference/tiled_attention.h"

namespace zyfa::reference {
namespace {

constexpr int64_t kKeyTile = 64;

class Float64Softmax : public PlainSoftmax<double> {
 public:
  struct Row {
    double max = -std::numeric_limits<double>::infinity();
    double sum = 0.0;
  };

  explicit Float64Softmax(const AttentionProblem& problem)
      : PlainSoftmax(problem), scale_(std::abs(problem.softmax_scale)) {}

  double Weigh(Row& row, double* scores, int64_t count) const {
    double max = row.max;
    for (int64_t i = 0; i < count; ++i) max = std::max(max, scores[i]);
    // Before the first key there is nothing to rescale and row.max is -Inf.
    const double factor = row.sum == 0.0 ? 0.0 : Weight(row.max, max);
    double sum = 0.0;
    for (int64_t i = 0; i < count; ++i) {
      scores[i] = Weight(scores[i], max);
      sum += scores[i];
    }
    row.max = max;
    row.sum = row.sum * factor + sum;
    return factor;
  }

  void Finish(const Row& row, const double* accumulated, int64_t count,
              double* output, double* lse) const {
    for (int64_t i = 0; i < count; ++i) output[i] = accumulated[i] / row.sum;
    *lse = scale_ * row.max + std::log(row.sum);
  }

 private:
  double Weight(double score, double max) const {
    return std::exp(scale_ * (score - max));
  }

  double scale_;
};

}  // namespace

absl::StatusOr<AttentionResult> Attention(const AttentionProblem& problem,
                                          const TensorView& query,
                                          const TensorView& key,
                                          const TensorView& value,
                                          const AttentionOptions& options) {
  const absl::Status status = Validate(problem, query, key, value, options);
  if (!status.ok()) return status;
  return TiledAttention<double>(problem, query, key, value, options, kKeyTile,
                                Float64Softmax(problem));
}

}  // namespace zyfa::reference

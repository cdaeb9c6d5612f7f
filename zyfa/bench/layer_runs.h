#ifndef ZYFA_BENCH_LAYER_RUNS_H_
#define ZYFA_BENCH_LAYER_RUNS_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "zyfa/bench/head_model.h"
#include "zyfa/bench/layer_inputs.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/reference/int8_slow_paths.h"
#include "zyfa/reference/problem.h"

namespace zyfa::bench {

struct LayerRunOptions {
  // In work-groups of 256 consecutive rows, evenly spread.
  int64_t rows_per_head = 512;
  int threads = 0;  // 0: one a core
};

// InvalidArgument unless rows_per_head is a multiple of 256 of at most seqlen.
absl::Status CheckRows(int64_t rows_per_head, int64_t seqlen);

// Which of the inputs a kernel's preparation rounds.
enum Rounding : unsigned {
  kNothing = 0,
  kQueryRounded = 1,
  kKeyRounded = 2,
  kValueRounded = 4,
  kAllRounded = 7,
};

// Causal attention over a layer in many ways, each computed once: outputs of
// the chosen rows, [query head][row][head_dim_v], in real numbers before the
// output is rounded to bf16.
class LayerRuns {
 public:
  using Rows = std::vector<double>;

  // `layer` must outlive this. InvalidArgument as CheckRows() and for head dims
  // other than 128 or 192, and 128.
  static absl::StatusOr<LayerRuns> Make(const models::CapturedLayer& layer,
                                        const LayerRunOptions& options);

  // Float64 attention; inputs that are not rounded are only prepared. Pointers
  // last as long as this. Errors here and below are the quantiser's.
  absl::StatusOr<const Rows*> Float64(const Preparation& preparation,
                                      unsigned rounding);
  // On the layer itself.
  absl::StatusOr<const Rows*> Float64() { return Float64({}, kNothing); }

  // In the numeric model, whose data type the preparation must have.
  absl::StatusOr<const Rows*> Model(Arithmetic arithmetic,
                                    const Preparation& preparation);
  // INT8: P as e4m3 of its exact value, all else in float64.
  absl::StatusOr<const Rows*> ExactP(const Preparation& preparation);
  // What Model() of this INT8 preparation met; it must have run.
  const reference::Int8SlowPaths& slow_paths(
      const Preparation& preparation) const {
    return slow_paths_.at(preparation);
  }

  absl::StatusOr<const LayerInputs*> Prepare(const Preparation& preparation);

  const models::CapturedLayer& layer() const { return *layer_; }
  // Query positions.
  const std::vector<int64_t>& rows() const { return *attention_.rows; }
  int threads() const { return attention_.threads; }

 private:
  LayerRuns(const models::CapturedLayer& layer, const LayerRunOptions& options);

  template <typename OfHead>
  absl::StatusOr<Rows> ForHeads(const OfHead& of_head) const;
  absl::StatusOr<Rows> RunModel(Arithmetic arithmetic,
                                const Preparation& preparation,
                                const LayerInputs& inputs);
  reference::TensorView View(reference::TensorView::Data data,
                             int64_t dim) const;

  const models::CapturedLayer* layer_;
  reference::AttentionProblem problem_;  // of one head
  reference::AttentionOptions attention_;
  std::map<Preparation, LayerInputs> inputs_;
  std::map<std::pair<Preparation, unsigned>, Rows> float64_;
  std::map<std::pair<Arithmetic, Preparation>, Rows> models_;
  std::map<Preparation, Rows> exact_p_;
  std::map<Preparation, reference::Int8SlowPaths> slow_paths_;
};

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_LAYER_RUNS_H_

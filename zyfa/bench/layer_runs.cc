#include "zyfa/bench/layer_runs.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/int8_model.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::bench {
namespace {

using models::CapturedLayer;
using reference::AttentionResult;
using reference::TensorView;

constexpr int64_t kHeadDimV = 128;

// Heads count as they are in the layer.
absl::StatusOr<AttentionResult> Times(absl::StatusOr<AttentionResult> result,
                                      float factor) {
  if (result.ok()) {
    for (double& x : result->output) x *= double{factor};
  }
  return result;
}

}  // namespace

absl::Status CheckRows(int64_t rows_per_head, int64_t seqlen) {
  if (rows_per_head >= kQueryTile && rows_per_head <= seqlen &&
      rows_per_head % kQueryTile == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("rows_per_head is ", rows_per_head, " of ", seqlen,
                   "; allowed: multiples of ", kQueryTile, " of at most that"));
}

absl::StatusOr<LayerRuns> LayerRuns::Make(const CapturedLayer& layer,
                                          const LayerRunOptions& options) {
  const absl::Status status = CheckRows(options.rows_per_head, layer.seqlen);
  if (!status.ok()) return status;
  if ((layer.head_dim_qk != 128 && layer.head_dim_qk != 192) ||
      layer.head_dim_v != kHeadDimV) {
    return absl::InvalidArgumentError(
        absl::StrCat("head dims are ", layer.head_dim_qk, " and ",
                     layer.head_dim_v, "; allowed: 128 or 192, and 128"));
  }
  return LayerRuns(layer, options);
}

LayerRuns::LayerRuns(const CapturedLayer& layer, const LayerRunOptions& options)
    : layer_(&layer) {
  problem_.seqlen_q = problem_.seqlen_kv = layer.seqlen;
  problem_.head_dim_qk = layer.head_dim_qk;
  problem_.head_dim_v = layer.head_dim_v;
  problem_.softmax_scale = ExactSoftmaxScale(layer);
  attention_.threads = options.threads;
  attention_.rows.emplace();
  const int64_t most = layer.seqlen / kQueryTile;
  const int64_t groups = options.rows_per_head / kQueryTile;
  for (int64_t i = 0; i < groups; ++i) {
    const int64_t group = (2 * i + 1) * most / (2 * groups);
    for (int64_t r = 0; r < kQueryTile; ++r) {
      attention_.rows->push_back(group * kQueryTile + r);
    }
  }
}

TensorView LayerRuns::View(TensorView::Data data, int64_t dim) const {
  return TensorView::Dense(data, layer_->seqlen, 1, dim);
}

template <typename OfHead>
absl::StatusOr<LayerRuns::Rows> LayerRuns::ForHeads(
    const OfHead& of_head) const {
  Rows rows;
  for (int64_t head = 0; head < layer_->heads_q; ++head) {
    const absl::StatusOr<AttentionResult> result = of_head(head);
    if (!result.ok()) return result.status();
    rows.insert(rows.end(), result->output.begin(), result->output.end());
  }
  return rows;
}

absl::StatusOr<const LayerInputs*> LayerRuns::Prepare(
    const Preparation& preparation) {
  auto at = inputs_.find(preparation);
  if (at == inputs_.end()) {
    auto made = LayerInputs::Make(*layer_, preparation);
    if (!made.ok()) return made.status();
    at = inputs_.emplace(preparation, *std::move(made)).first;
  }
  return &at->second;
}

absl::StatusOr<const LayerRuns::Rows*> LayerRuns::Float64(
    const Preparation& preparation, unsigned rounding) {
  // Preparing alone changes nothing.
  const auto key =
      std::pair(rounding == kNothing ? Preparation{} : preparation, rounding);
  const auto at = float64_.find(key);
  if (at != float64_.end()) return &at->second;
  const auto inputs = Prepare(key.first);
  if (!inputs.ok()) return inputs.status();
  auto rows = ForHeads([&](int64_t head) -> absl::StatusOr<AttentionResult> {
    HeadNumbers numbers = (*inputs)->Rounded(head);
    if (rounding != kAllRounded) {
      auto plain = (*inputs)->Unrounded(head);
      if (!plain.ok()) return plain.status();
      if ((rounding & kQueryRounded) == 0) numbers.query.swap(plain->query);
      if ((rounding & kKeyRounded) == 0) numbers.key.swap(plain->key);
      if ((rounding & kValueRounded) == 0) numbers.value.swap(plain->value);
    }
    return reference::Attention(
        problem_, View(numbers.query.data(), layer_->head_dim_qk),
        View(numbers.key.data(), layer_->head_dim_qk),
        View(numbers.value.data(), kHeadDimV), attention_);
  });
  if (!rows.ok()) return rows.status();
  return &float64_.emplace(key, *std::move(rows)).first->second;
}

absl::StatusOr<LayerRuns::Rows> LayerRuns::RunModel(
    Arithmetic arithmetic, const Preparation& preparation,
    const LayerInputs& inputs) {
  return ForHeads([&](int64_t head) -> absl::StatusOr<AttentionResult> {
    const Inputs in = inputs.Head(head);
    if (arithmetic != Arithmetic::kInt8) {
      return RunHeadModel(arithmetic, in, problem_, attention_);
    }
    reference::Int8SlowPathCounter counter(rows(), layer_->seqlen);
    auto result = RunHeadModel(
        arithmetic, in, problem_, attention_,
        [&](const reference::Int8Tile& tile) { counter.Note(tile); });
    slow_paths_[preparation] += counter.Count();
    return result;
  });
}

absl::StatusOr<const LayerRuns::Rows*> LayerRuns::Model(
    Arithmetic arithmetic, const Preparation& preparation) {
  const auto key = std::pair(arithmetic, preparation);
  const auto at = models_.find(key);
  if (at != models_.end()) return &at->second;
  const auto inputs = Prepare(preparation);
  if (!inputs.ok()) return inputs.status();
  auto rows = RunModel(arithmetic, preparation, **inputs);
  if (!rows.ok()) return rows.status();
  return &models_.emplace(key, *std::move(rows)).first->second;
}

absl::StatusOr<const LayerRuns::Rows*> LayerRuns::ExactP(
    const Preparation& preparation) {
  const auto at = exact_p_.find(preparation);
  if (at != exact_p_.end()) return &at->second;
  const auto inputs = Prepare(preparation);
  if (!inputs.ok()) return inputs.status();
  auto rows = ForHeads([&](int64_t head) {
    const Inputs in = (*inputs)->Head(head);
    return Times(Int8TensorsOf(in, problem_).ExactP(attention_),
                 in.value_descale);
  });
  if (!rows.ok()) return rows.status();
  return &exact_p_.emplace(preparation, *std::move(rows)).first->second;
}

}  // namespace zyfa::bench

#include "zyfa/bench/check_accuracy.h"

#include <algorithm>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "zyfa/bench/flops.h"
#include "zyfa/numerics/elementary.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/reference/attention.h"

namespace zyfa::bench {
namespace {

using numerics::Bf16;

// The output rows at these query positions, in the order of the reference's:
// [batch][position][heads_q][head_dim_v].
std::vector<Bf16> Gather(const Case& c, std::span<const Bf16> output,
                         const std::vector<int64_t>& positions) {
  const size_t width = size_t{1} * c.heads_q * c.variant.head_dim_v;
  std::vector<Bf16> rows;
  rows.reserve(c.batch * positions.size() * width);
  for (int64_t batch = 0; batch < c.batch; ++batch) {
    for (int64_t position : positions) {
      const auto row =
          output.subspan((batch * c.seqlen_q + position) * width, width);
      rows.insert(rows.end(), row.begin(), row.end());
    }
  }
  return rows;
}

}  // namespace

std::optional<std::vector<int64_t>> RowsToCheck(const Case& c, double flops) {
  const double all = AttentionFlops(c.variant, int64_t{c.batch} * c.heads_q,
                                    c.seqlen_q, c.seqlen_kv);
  const int64_t affordable = std::max<int64_t>(
      16, static_cast<int64_t>(static_cast<double>(c.seqlen_q) * flops / all));
  if (all <= flops || affordable >= c.seqlen_q) return std::nullopt;
  std::vector<int64_t> rows(affordable);
  for (int64_t i = 0; i < affordable; ++i) {
    rows[i] = i * (c.seqlen_q - 1) / (affordable - 1);
  }
  return rows;
}

absl::Status CheckAccuracy(const Case& c, const Inputs& inputs,
                           std::span<const Bf16> output, double reference_flops,
                           int threads, proto::Record& record) {
  reference::AttentionProblem problem = {
      .batch = c.batch,
      .heads_q = c.heads_q,
      .heads_kv = c.heads_kv,
      .seqlen_q = c.seqlen_q,
      .seqlen_kv = c.seqlen_kv,
      .head_dim_qk = c.variant.head_dim_qk,
      .head_dim_v = c.variant.head_dim_v,
      .mask = c.variant.mask == Mask::kCausal ? reference::Mask::kCausal
                                              : reference::Mask::kFull,
      .softmax_scale = double{inputs.softmax_scale} *
                       double{inputs.query_descale} *
                       double{inputs.key_descale}};
  std::vector<float> int8_query, int8_key;
  if (c.variant.data_type == DataType::kInt8) {
    int8_query = Int8QueryValues(c, inputs);
    int8_key = Int8KeyValues(c, inputs);
    problem.softmax_scale = numerics::kLn2;
  }
  const auto view = [](const Elements& elements, int64_t seqlen, int64_t heads,
                       int64_t head_dim) {
    return std::visit(
        [&](const auto& data) {
          return reference::TensorView::Dense(data.data(), seqlen, heads,
                                              head_dim);
        },
        elements.values);
  };
  const auto score_view = [&](const Elements& elements,
                              const std::vector<float>& int8_values,
                              int64_t seqlen, int64_t heads) {
    return int8_values.empty()
               ? view(elements, seqlen, heads, c.variant.head_dim_qk)
               : reference::TensorView::Dense(int8_values.data(), seqlen, heads,
                                              c.variant.head_dim_qk);
  };
  const std::optional<std::vector<int64_t>> rows =
      RowsToCheck(c, reference_flops);
  absl::StatusOr<reference::AttentionResult> expected = reference::Attention(
      problem, score_view(inputs.query, int8_query, c.seqlen_q, c.heads_q),
      score_view(inputs.key, int8_key, c.seqlen_kv, c.heads_kv),
      view(inputs.value, c.seqlen_kv, c.heads_kv, c.variant.head_dim_v),
      {.threads = threads, .rows = rows});
  if (!expected.ok()) return expected.status();
  for (double& x : expected->output) x *= inputs.value_descale;

  std::vector<Bf16> gathered;
  if (rows.has_value()) {
    gathered = Gather(c, output, *rows);
    output = gathered;
  }
  const absl::StatusOr<numerics::ErrorMetrics> errors =
      numerics::CompareToReference(output, expected->output,
                                   c.variant.head_dim_v);
  if (!errors.ok()) return errors.status();
  record.set_rel_rmse(errors->relative_rmse);
  record.set_max_abs_error(errors->max_abs_error);
  record.set_cosine(errors->cosine);
  record.set_worst_row_rel_rmse(errors->worst_row_relative_rmse);
  record.set_rows_checked(
      static_cast<int32_t>(expected->output.size() / c.variant.head_dim_v));
  if (errors->non_finite_mismatches > 0) {
    return absl::InternalError(absl::StrCat("output is NaN or infinite in ",
                                            errors->non_finite_mismatches,
                                            " elements"));
  }
  return absl::OkStatus();
}

}  // namespace zyfa::bench

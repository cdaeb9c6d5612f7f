#include "zyfa/reference/problem.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "zyfa/reference/refuse.h"

namespace zyfa::reference {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 31;
constexpr int64_t kMaxHeadDim = int64_t{1} << 16;
// 64 GiB of doubles.
constexpr int64_t kMaxOutput = int64_t{1} << 33;
constexpr int kMaxThreads = 1024;

}  // namespace

absl::Status Validate(const AttentionProblem& problem, const TensorView& query,
                      const TensorView& key, const TensorView& value,
                      const AttentionOptions& options) {
  const AttentionProblem& p = problem;
  const struct {
    absl::string_view name;
    int64_t value;
    int64_t low;
    int64_t high;
    absl::string_view allowed;
  } ranges[] = {
      {"batch", p.batch, 0, kMaxExtent, "0 .. 2^31"},
      {"heads_q", p.heads_q, 0, kMaxExtent, "0 .. 2^31"},
      {"heads_kv", p.heads_kv, 1, kMaxExtent, "1 .. 2^31"},
      {"seqlen_q", p.seqlen_q, 0, kMaxExtent, "0 .. 2^31"},
      {"seqlen_kv", p.seqlen_kv, 0, kMaxExtent, "0 .. 2^31"},
      {"head_dim_qk", p.head_dim_qk, 1, kMaxHeadDim, "1 .. 65536"},
      {"head_dim_v", p.head_dim_v, 1, kMaxHeadDim, "1 .. 65536"},
      {"threads", options.threads, 0, kMaxThreads,
       "1 .. 1024, or 0 for all processors"},
  };
  for (const auto& range : ranges) {
    if (range.value < range.low || range.value > range.high) {
      return Refuse(range.name, range.value, range.allowed);
    }
  }
  if (p.heads_q % p.heads_kv != 0) {
    return Refuse("heads_q", p.heads_q,
                  absl::StrCat("multiples of heads_kv, ", p.heads_kv));
  }
  if (p.mask != Mask::kCausal && p.mask != Mask::kFull) {
    return Refuse("mask", static_cast<int>(p.mask), "0 (causal) and 1 (full)");
  }
  if (!std::isfinite(p.softmax_scale)) {
    return Refuse("softmax_scale", p.softmax_scale, "finite numbers");
  }
  int64_t rows = p.seqlen_q;
  if (options.rows.has_value()) {
    rows = static_cast<int64_t>(options.rows->size());
    for (int64_t row : *options.rows) {
      if (row < 0 || row >= p.seqlen_q) {
        return Refuse("rows element", row,
                      absl::StrCat("0 .. seqlen_q - 1, ", p.seqlen_q - 1));
      }
    }
  }
  double outputs = 1.0;
  for (int64_t n : {p.batch, p.heads_q, rows, p.head_dim_v}) {
    outputs *= static_cast<double>(n);
  }
  if (outputs > static_cast<double>(kMaxOutput)) {
    return Refuse("batch * heads_q * rows * head_dim_v", outputs,
                  "at most 2^33 output elements");
  }
  const bool any_row = p.batch > 0 && p.heads_q > 0 && rows > 0;
  if (any_row && query.is_null()) {
    return Refuse("query", "null", "a pointer to the data");
  }
  if (any_row && p.seqlen_kv > 0) {
    if (key.is_null()) return Refuse("key", "null", "a pointer to the data");
    if (value.is_null()) {
      return Refuse("value", "null", "a pointer to the data");
    }
  }
  return absl::OkStatus();
}

int64_t VisibleKeys(const AttentionProblem& problem, int64_t row) {
  if (problem.mask == Mask::kFull) return problem.seqlen_kv;
  return std::clamp<int64_t>(row + 1 + problem.seqlen_kv - problem.seqlen_q, 0,
                             problem.seqlen_kv);
}

}  // namespace zyfa::reference

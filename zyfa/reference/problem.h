#ifndef ZYFA_REFERENCE_PROBLEM_H_
#define ZYFA_REFERENCE_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "zyfa/reference/tensor_view.h"

namespace zyfa::reference {

// Which keys a query sees. kCausal is aligned to the bottom right: query i sees
// keys 0 .. i + seqlen_kv - seqlen_q.
enum class Mask { kCausal, kFull };

// O = softmax(softmax_scale * Q K^T + mask) V for each batch entry and head.
// Query head h reads key and value head h / (heads_q / heads_kv).
struct AttentionProblem {
  int64_t batch = 1;
  int64_t heads_q = 1;
  int64_t heads_kv = 1;  // divides heads_q
  int64_t seqlen_q = 0;
  int64_t seqlen_kv = 0;
  int64_t head_dim_qk = 128;
  int64_t head_dim_v = 128;
  Mask mask = Mask::kCausal;
  double softmax_scale = 1.0;  // any finite number
};

struct AttentionOptions {
  // Worker threads; 0 means one for each processor. Results do not depend on
  // it.
  int threads = 0;
  // Query positions to compute, in the order of the result's rows; all of them
  // if not set. A row has the same bits whichever others are computed.
  std::optional<std::vector<int64_t>> rows = std::nullopt;
};

struct AttentionResult {
  // [batch][rows][heads_q][head_dim_v]; 0 for a row that sees no key.
  std::vector<double> output;
  // [batch][heads_q][rows], natural logarithm of sum(exp(softmax_scale * q.k));
  // -Inf for a row that sees no key.
  std::vector<double> lse;
};

// OK, or InvalidArgument naming the first argument that is out of range, its
// value and what is allowed.
absl::Status Validate(const AttentionProblem& problem, const TensorView& query,
                      const TensorView& key, const TensorView& value,
                      const AttentionOptions& options);

// Keys that query position `row` sees: 0 .. n-1.
int64_t VisibleKeys(const AttentionProblem& problem, int64_t row);

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_PROBLEM_H_

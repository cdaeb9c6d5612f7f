#ifndef ZYFA_REFERENCE_ATTENTION_H_
#define ZYFA_REFERENCE_ATTENTION_H_

#include "absl/status/statusor.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"

namespace zyfa::reference {

// Attention in float64, the yardstick for kernels. Blocked over keys with
// online softmax, on all processors; every input format is widened exactly.
//
// Bits do not depend on the number of threads, on which rows are asked for, or
// on keys a row does not see (whose K and V may hold anything). Softmax
// arguments are scale * (score - largest score), so large scores lose nothing
// and any finite scale is fine. A NaN or Inf that a row does see makes that row
// NaN.
absl::StatusOr<AttentionResult> Attention(const AttentionProblem& problem,
                                          const TensorView& query,
                                          const TensorView& key,
                                          const TensorView& value,
                                          const AttentionOptions& options = {});

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_ATTENTION_H_

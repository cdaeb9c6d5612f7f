#ifndef ZYFA_REFERENCE_BF16_MODEL_H_
#define ZYFA_REFERENCE_BF16_MODEL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"

namespace zyfa::reference {

struct Bf16ModelOptions {
  // Keys per step of the online softmax: 1 .. 65536.
  int64_t key_tile = 64;
  // The running maximum of a row moves only when a score exceeds it by more
  // than this many binades; 0 keeps it exact. 0 .. 64.
  double rescale_binades = 0.0;
  // Whether the output is rounded to bf16, as the kernels' is.
  bool round_output = true;
  AttentionOptions attention = {};
};

// The numeric model of BF16 attention on a matrix core: "fp32 softmax, bf16 P".
// Q, K and V must be bf16. With c = float(|softmax_scale| * log2(e)),
//
//   S = Q K^T              fp32, products exact, one addition after another
//   m = running row max    fp32, of S (of -S for a negative scale)
//   p = exp2((S - m) * c)  fp32, each step rounded to nearest
//   P = bf16(p)            nearest even
//   l = sum of p           fp32, of the unrounded p
//   O = bf16(sum of P V / l), accumulated in fp32, rescaled when m moves
//
// The matrix core's own order of summation is not modelled: it is worth 1e-7
// against the 2e-3 of the two bf16 roundings. Output and lse hold bf16 and fp32
// values, without round_output fp32 both. InvalidArgument as Validate(), and
// for inputs that are not bf16.
absl::StatusOr<AttentionResult> Bf16Attention(
    const AttentionProblem& problem, const TensorView& query,
    const TensorView& key, const TensorView& value,
    const Bf16ModelOptions& options = {});

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_BF16_MODEL_H_

#ifndef ZYFA_REFERENCE_INT8_TENSORS_H_
#define ZYFA_REFERENCE_INT8_TENSORS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/reference/int8_model.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"

namespace zyfa::reference {

// Q, K and V of one head for causal self-attention, as the INT8 kernels take
// them, with the softmax scale 1/sqrt(head_dim_qk) in Q.
struct Int8Tensors {
  // Takes a captured or made head of `head_dim_qk` 128 or 192 and head_dim_v
  // 128: Q and K rotated, K without its mean, in double; then int8-qk 1 and 5.
  // InvalidArgument for other sizes and for numbers that are not finite.
  static absl::StatusOr<Int8Tensors> Quantise(
      const numerics::RealLikeHead& head, int head_dim_qk, bool multiplies);

  // Attention of what the integers stand for, in float64.
  absl::StatusOr<AttentionResult> Float64(
      const AttentionOptions& options = {}) const;
  // The same with exact P (numerics 2): e4m3(2^(x - e)) * 2^e of scores x
  // relative to a reference, e the one of the tile's maximum, rounded. The
  // reference moves to a maximum that would weigh more than kMoveShare of the
  // row so far; all else is float64.
  absl::StatusOr<AttentionResult> ExactP(
      const AttentionOptions& options = {}) const;
  // In the INT8 model; sets shifts and multipliers. Output in float32.
  absl::StatusOr<AttentionResult> Model(Int8ModelOptions options = {}) const;

  AttentionProblem problem;
  std::vector<int8_t> query;          // [seqlen][head_dim_qk]
  std::vector<int8_t> key;            // [seqlen][head_dim_qk]
  std::vector<numerics::E4m3> value;  // [seqlen][head_dim_v]
  std::vector<uint8_t> shifts;        // [seqlen]
  std::vector<uint32_t> multipliers;  // [seqlen], or none: the shift form
};

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_INT8_TENSORS_H_

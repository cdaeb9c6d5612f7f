#ifndef ZYFA_REFERENCE_FP8_TENSORS_H_
#define ZYFA_REFERENCE_FP8_TENSORS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/reference/fp8_model.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"

namespace zyfa::reference {

// A tensor in e4m3, quantised as a whole: its largest magnitude becomes 448.
struct Fp8Tensor {
  static Fp8Tensor Quantise(const std::vector<float>& values);

  std::vector<numerics::E4m3> codes;
  float descale = 1.0f;  // real value = e4m3 value * descale
};

// Q, K and V of one head for causal self-attention, with the softmax scale
// 1/sqrt(head_dim_qk).
struct Fp8Tensors {
  // Attention of the quantised inputs, in float64 and in the FP8 model, whose
  // descales this sets.
  absl::StatusOr<AttentionResult> Float64(
      const AttentionOptions& options = {}) const;
  absl::StatusOr<AttentionResult> Model(Fp8ModelOptions options = {}) const;

  AttentionProblem problem;
  Fp8Tensor query, key, value;
};

// Gaussian numbers for set "G", else those of numerics::RealLikeSet().
// InvalidArgument as there and in MakeRealLikeHead().
absl::StatusOr<numerics::RealLikeHead> MakeHead(absl::string_view set,
                                                int64_t seqlen, int head_dim_qk,
                                                int head_dim_v, uint64_t seed);
absl::StatusOr<Fp8Tensors> MakeFp8Tensors(absl::string_view set, int64_t seqlen,
                                          int head_dim_qk, int head_dim_v,
                                          uint64_t seed);

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_FP8_TENSORS_H_

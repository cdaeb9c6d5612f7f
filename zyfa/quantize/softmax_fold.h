#ifndef ZYFA_QUANTIZE_SOFTMAX_FOLD_H_
#define ZYFA_QUANTIZE_SOFTMAX_FOLD_H_

#include "absl/status/statusor.h"

namespace zyfa {

// How the softmax scale is folded into Q's descales. Attention multiplies a raw
// score with
//   c = ((softmax_scale * log2 e) * descale_q) * descale_k
// in float32, left to right. With descale_q = unit * 2^n and descale_k = 2^m, c
// is a power of two, exactly. e4m3 is the same in every binade, so a factor in
// [1, 2) costs nothing (numerics 6).
struct SoftmaxFold {
  // For attention: the one asked for, or for 1 in 20 a neighbour of it in
  // float32, because no float32 is the reciprocal of softmax_scale * log2 e.
  float softmax_scale = 0;
  float unit = 1;  // for QuantizeOptions::unit of Q; that of K is then 1
};

// InvalidArgument unless the magnitude is in [2^-60, 2^60].
absl::StatusOr<SoftmaxFold> FoldSoftmaxScale(float softmax_scale);

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_SOFTMAX_FOLD_H_

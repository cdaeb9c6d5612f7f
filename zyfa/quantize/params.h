#ifndef ZYFA_QUANTIZE_PARAMS_H_
#define ZYFA_QUANTIZE_PARAMS_H_

#include <cstdint>
#include <optional>

#include "zyfa/launch/tensor.h"
#include "zyfa/quantize/options.h"

namespace zyfa {

// What Q's pass writes for the LSE of attention over keys without their mean:
// softmax_scale * (q . mean key) of every row, to be added to the LSE.
struct LseCorrection {
  LseView output;  // float32, of the query's sizes
  // float32 [batch][heads_kv][head_dim], dense: QuantizeParams::mean of K.
  uint64_t key_mean = 0;
  int64_t heads_kv = 0;  // divides the query's heads
  float softmax_scale = 0;
};

// One pass over Q, K or V on a device.
//
// Rules, all checked before anything is launched:
// - input bf16, output FP8, of the same sizes; head_dim 128 or 192, heads up to
//   65536, seqlen up to 2^31 - 513, batch * heads below 2^31, with seqlen 2^41
//   at most; of kTensor and kHead 2^28 chunks (QuantizeChunkRows) a scale at
//   most;
// - addresses and strides of input and output are multiples of 16, of the rest
//   4 (key_mean and mean 16), strides are not negative, sequence strides are
//   below 2^25 bytes, everything ends below address 2^48;
// - what is written overlaps neither itself nor anything else. The input may
//   have strides of 0;
// - a unit in [1, 2); no LSE correction together with subtract_mean; if
//   calibrated neither a unit nor kToken.
// Numbers that are not finite, and those whose sums are not, make the descale
// and all codes of what shares the scale NaN (of subtract_mean: of every such
// scale of the head). A tensor without tokens gets descales as one of zeros. If
// calibrated, a NaN makes its own code NaN, or with a rotation its token's, an
// infinity saturates as other numbers do, and a descale that is not from 2^-110
// up and below 2^122 makes all codes that share it NaN.
struct QuantizeParams {
  TensorView input;
  TensorView output;
  QuantizeOptions options;
  uint64_t descale = 0;  // float32, dense, as ScaleGranularity says
  // If options.subtract_mean: float32 [batch][heads][head_dim], dense.
  uint64_t mean = 0;
  // Descale and mean are read and not written: what another pass has left, or
  // a calibration. Each token's codes then depend on the token alone; a
  // magnitude beyond 448 descales saturates.
  bool calibrated = false;
  std::optional<LseCorrection> lse_correction;
  // QuantizeWorkspaceBytes() of device memory for the time of the pass.
  uint64_t workspace = 0;
};

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_PARAMS_H_

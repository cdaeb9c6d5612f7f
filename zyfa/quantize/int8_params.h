#ifndef ZYFA_QUANTIZE_INT8_PARAMS_H_
#define ZYFA_QUANTIZE_INT8_PARAMS_H_

#include <cstdint>
#include <optional>

#include "zyfa/launch/tensor.h"
#include "zyfa/quantize/int8_options.h"
#include "zyfa/quantize/params.h"

namespace zyfa {

// The passes from bf16 to int8 on a device. The rules of QuantizeParams hold,
// with an output of kInt8; what is a number a token has the input's sizes and
// addresses and strides that are multiples of its size. Options:
// int8_options.h.

// One pass over K.
//
// Numbers that are not finite, and those whose sums are not, make the descale
// NaN and all codes that share it 0. If calibrated, they make the codes of
// their token 0; those of a descale that is not from 2^-110 up and below 2^122
// are all 0. Codes of 0 for such a reason have multiplier 1.
struct QuantizeKeysInt8Params {
  TensorView input;
  TensorView output;
  KeyInt8Options options;
  uint64_t descale = 0;  // float32, dense, as ScaleGranularity says
  // If options.subtract_mean: float32 [batch][heads][head_dim], dense.
  uint64_t mean = 0;
  // Descale and mean are read and not written: what another pass has left, or
  // a calibration. Each token's codes then depend on the token alone; a
  // magnitude beyond 127 descales saturates.
  bool calibrated = false;
  TokenView multipliers;  // uint32, if options.token_multipliers
  // QuantizeWorkspaceBytes() of device memory for the time of the pass.
  uint64_t workspace = 0;
};

// One pass over Q. A row with a number that is not finite, or whose sums are
// not, and one whose keys' descale is not from 2^-110 up and below 2^122, gets
// shift 255 and codes 0.
struct QuantizeQueriesInt8Params {
  TensorView input;
  TensorView output;
  QueryInt8Options options;
  // QuantizeKeysInt8Params::descale, of options.heads_kv heads.
  uint64_t key_descale = 0;
  TokenView shifts;  // uint8
  // With heads_kv and softmax_scale of the options.
  std::optional<LseCorrection> lse_correction;
};

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_INT8_PARAMS_H_

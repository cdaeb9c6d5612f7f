#ifndef ZYFA_QUANTIZE_INT8_OPTIONS_H_
#define ZYFA_QUANTIZE_INT8_OPTIONS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "zyfa/quantize/options.h"

namespace zyfa {

// What a pass over K from bf16 to int8 does (docs/quantiser.md). In this order:
// the mean token is subtracted, the head dimension rotated, all divided and
// rounded to nearest even.
struct KeyInt8Options {
  // What shares a descale: kTensor, kHead or kBatchHead.
  ScaleGranularity granularity = ScaleGranularity::kHead;
  // The multiplier form: each token of a head gets an integer m of 1 .. 255 as
  // well, and code * m * (descale / 255) stands for a number. Otherwise (the
  // shift form) code * descale does.
  bool token_multipliers = false;
  // As in QuantizeOptions.
  bool rotate = false;
  bool subtract_mean = false;
};

// What a pass over Q from bf16 to int8 does: the head dimension is rotated, and
// each row gets the largest shift s of 0 .. 20 with which its codes fit, so
// that q_code . k_code (of the multiplier form times m) counts 2^-s of 1/8
// binade of the softmax's weight.
struct QueryInt8Options {
  bool rotate = false;       // as K's
  float softmax_scale = 0;   // any finite number
  int64_t heads_kv = 1;      // divides the query's heads
  bool multipliers = false;  // K has token_multipliers
  // K's granularity.
  ScaleGranularity key_granularity = ScaleGranularity::kHead;
};

// InvalidArgument, with the field's name, its value and what is allowed.
absl::Status CheckKeyInt8Options(const KeyInt8Options& options);
// `heads`: the query's; of none no number of KV heads is wrong.
absl::Status CheckQueryInt8Options(const QueryInt8Options& options,
                                   int64_t heads);

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_INT8_OPTIONS_H_

#ifndef ZYFA_QUANTIZE_QUANTIZED_ATTENTION_H_
#define ZYFA_QUANTIZE_QUANTIZED_ATTENTION_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/device.h"

namespace zyfa {

// What Q, K and V are quantised to, and the kernels that then run: e4m3 with
// lean or exact P, or Q and K to int8 (shift or multiplier form) and V to e4m3.
enum class Precision { kFp8Lean, kFp8Exact, kInt8Shift, kInt8Multiply };

// One attention call over bf16 tensors by FP8 or INT8 kernels: passes over K, Q
// and V (docs/quantiser.md), a descale for each head of each batch entry, and
// attention. Shapes, layout and rules are those of a bf16 call
// (attention_params.h). The softmax scale is folded into Q's descales where
// that makes the kernel faster, which is that of exact P.
struct QuantizedAttentionParams {
  TensorView query;  // bf16, as all four
  TensorView key;    // no number of Q, K and V may be NaN or infinite: one
  TensorView value;  // spoils all that share its descale
  TensorView output;
  std::optional<LseView> lse;
  // float32 of the query's sizes: what is to be added to `lse`, which lacks
  // softmax_scale * (q . mean key). Given if, and only if, `lse` is and the
  // mean is subtracted; dense or not, as `lse`.
  std::optional<LseView> lse_correction;
  // 1 / sqrt(head_dim_qk) if not given.
  std::optional<float> softmax_scale;
  Mask mask = Mask::kCausal;
  Precision precision = Precision::kFp8Lean;
  bool rotate = true;         // Q and K, by a Hadamard transform
  bool subtract_mean = true;  // the mean key, from each key
  // QuantizedAttentionWorkspaceBytes() of device memory at a multiple of 256,
  // for the time of the call.
  uint64_t workspace = 0;
};

// InvalidArgument for calls that QuantizedAttentionForward() refuses, whatever
// the workspace's address.
absl::StatusOr<int64_t> QuantizedAttentionWorkspaceBytes(
    const QuantizedAttentionParams& params);

// Checks `params` and puts the passes and the call on `stream`, as
// AttentionForward() does. InvalidArgument with the argument's name, its value
// and what is allowed; errors of the device come back as they are.
absl::Status QuantizedAttentionForward(const QuantizedAttentionParams& params,
                                       Device& device, Stream stream = {});

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_QUANTIZED_ATTENTION_H_

#ifndef ZYFA_QUANTIZE_HOST_QUANTIZE_H_
#define ZYFA_QUANTIZE_HOST_QUANTIZE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/quantize/options.h"

namespace zyfa {

// The passes of the quantiser on the CPU, with the same bits as the kernels
// (docs/quantiser.md has the formulas).

// Sizes of a dense tensor [batch][seqlen][heads][head_dim]; head_dim is 128 or
// 192.
struct QuantizeExtent {
  int64_t batch = 1;
  int64_t seqlen = 0;
  int64_t heads = 1;
  int64_t head_dim = 128;
  int64_t elements() const { return batch * seqlen * heads * head_dim; }
};

struct QuantizedTensor {
  std::vector<numerics::E4m3> codes;  // as the extent says
  std::vector<float> descales;        // as ScaleGranularity says
  std::vector<float> mean;            // [batch][heads][head_dim], if subtracted
};

// InvalidArgument, with the argument's name, its value and what is allowed, for
// sizes that do not fit, options that are none, numbers that are not finite and
// numbers so large that a sum of the mean or the rotation is not.
absl::StatusOr<QuantizedTensor> QuantizeOnHost(
    const QuantizeOptions& options, const QuantizeExtent& extent,
    absl::Span<const numerics::Bf16> input);

// What the LSE of attention over keys without their mean lacks:
// softmax_scale * (q . mean key), [batch][heads][seqlen]. `key_mean` is
// QuantizedTensor::mean of the keys, with heads_kv heads; query head h has KV
// head h / (heads / heads_kv); without heads neither is looked at.
// InvalidArgument for sizes that do not fit and a scale that is not finite.
absl::StatusOr<std::vector<float>> LseCorrectionOnHost(
    const QuantizeExtent& query_extent, absl::Span<const numerics::Bf16> query,
    int64_t heads_kv, absl::Span<const float> key_mean, float softmax_scale);

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_HOST_QUANTIZE_H_

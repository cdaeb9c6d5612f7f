#ifndef ZYFA_QUANTIZE_HOST_QUANTIZE_H_
#define ZYFA_QUANTIZE_HOST_QUANTIZE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/quantize/calibration.h"
#include "zyfa/quantize/extent.h"
#include "zyfa/quantize/options.h"

namespace zyfa {

// The passes of the quantiser on the CPU, with the same bits as the kernels
// (docs/quantiser.md has the formulas).

struct QuantizedTensor {
  std::vector<numerics::E4m3> codes;  // as the extent says
  std::vector<float> descales;        // as ScaleGranularity says
  std::vector<float> mean;            // [batch][heads][head_dim], if subtracted
};

// InvalidArgument, with the argument's name, its value and what is allowed, for
// sizes that do not fit, options that are none, descales and means out of
// range, numbers that are not finite and numbers so large that a sum of the
// mean or the rotation is not. With a calibration there is no unit, and the
// granularity is not kToken.
absl::StatusOr<QuantizedTensor> QuantizeOnHost(
    const QuantizeOptions& options, const QuantizeExtent& extent,
    absl::Span<const numerics::Bf16> input,
    const std::optional<QuantizeCalibration>& calibration = std::nullopt);

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

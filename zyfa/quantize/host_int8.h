#ifndef ZYFA_QUANTIZE_HOST_INT8_H_
#define ZYFA_QUANTIZE_HOST_INT8_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/quantize/calibration.h"
#include "zyfa/quantize/extent.h"
#include "zyfa/quantize/int8_options.h"

namespace zyfa {

// The INT8 passes of the quantiser on the CPU, with the same bits as the
// kernels (docs/quantiser.md has the formulas).

struct Int8Keys {
  std::vector<int8_t> codes;          // as the extent says, -127 .. 127
  std::vector<float> descales;        // as ScaleGranularity says
  std::vector<uint32_t> multipliers;  // [batch][heads][seqlen], if asked for
  std::vector<float> mean;            // [batch][heads][head_dim], if subtracted
};

// InvalidArgument, with the argument's name, its value and what is allowed, for
// sizes that do not fit, options that are none, descales and means out of
// range, numbers that are not finite and numbers so large that a sum of the
// mean or the rotation is not.
absl::StatusOr<Int8Keys> QuantizeKeysInt8OnHost(
    const KeyInt8Options& options, const QuantizeExtent& extent,
    absl::Span<const numerics::Bf16> keys,
    const std::optional<QuantizeCalibration>& calibration = std::nullopt);

struct Int8Queries {
  std::vector<int8_t> codes;    // as the extent says, -127 .. 127
  std::vector<uint8_t> shifts;  // [batch][heads][seqlen], 0 .. 20
};

// `key_descales`: Int8Keys::descales, as options.key_granularity says; query
// head h has KV head h / (heads / heads_kv). InvalidArgument as above.
// LseCorrectionOnHost() has what the LSE lacks of keys without their mean.
absl::StatusOr<Int8Queries> QuantizeQueriesInt8OnHost(
    const QueryInt8Options& options, const QuantizeExtent& extent,
    absl::Span<const numerics::Bf16> queries,
    absl::Span<const float> key_descales);

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_HOST_INT8_H_

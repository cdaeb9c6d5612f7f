#ifndef ZYFA_QUANTIZE_CALIBRATION_H_
#define ZYFA_QUANTIZE_CALIBRATION_H_

#include "absl/types/span.h"

namespace zyfa {

// What a pass of the host is given instead of measuring it: what another pass
// has found, or a calibration. Each token's codes then depend on the token
// alone; a magnitude beyond the largest code's saturates.
struct QuantizeCalibration {
  // As ScaleGranularity says, from 2^-110 up and below 2^122.
  absl::Span<const float> descales;
  // [batch][heads][head_dim] of a pass that subtracts a mean, or else nothing.
  absl::Span<const float> mean;
};

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_CALIBRATION_H_

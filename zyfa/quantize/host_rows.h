#ifndef ZYFA_QUANTIZE_HOST_ROWS_H_
#define ZYFA_QUANTIZE_HOST_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/quantize/calibration.h"
#include "zyfa/quantize/extent.h"
#include "zyfa/quantize/options.h"

namespace zyfa {

// What the host's passes have in common, whatever they quantise to.

// InvalidArgument: "WHAT is VALUE; allowed: ALLOWED".
absl::Status RefuseOnHost(absl::string_view what, absl::string_view value,
                          absl::string_view allowed);

// InvalidArgument for sizes that no pass takes and an input of other sizes.
absl::Status CheckExtent(const QuantizeExtent& extent, size_t elements);

// The same, and InvalidArgument for a number that is not finite, with its
// place.
absl::Status CheckInput(const QuantizeExtent& extent,
                        absl::Span<const numerics::Bf16> input);

// InvalidArgument for descales, `count` of them, out of range.
absl::Status CheckDescales(absl::string_view name,
                           absl::Span<const float> descales, int64_t count);
// The same of a calibration, and of its mean.
absl::Status CheckCalibration(const QuantizeCalibration& calibration,
                              ScaleGranularity granularity, bool subtract_mean,
                              const QuantizeExtent& extent);

// Where a row of a dense [batch][seqlen][heads][head_dim] begins.
int64_t RowBegin(const QuantizeExtent& extent, int64_t batch, int64_t seq,
                 int64_t head);

// [batch][heads][head_dim], summed in the order of the kernels.
std::vector<float> MeanToken(const QuantizeExtent& extent,
                             absl::Span<const numerics::Bf16> input);

// The numbers that are scaled and rounded, dense as the input: without `mean`,
// if that is not empty, and rotated. InvalidArgument if one is not finite.
absl::StatusOr<std::vector<float>> PrepareRows(
    const QuantizeExtent& extent, absl::Span<const numerics::Bf16> input,
    absl::Span<const float> mean, bool rotate);

// The scale of each row of the tensor.
std::vector<size_t> ScaleOfRows(ScaleGranularity granularity,
                                const QuantizeExtent& extent);

// Largest magnitude of what shares a scale; `scales` of them.
std::vector<float> LargestOfScales(const QuantizeExtent& extent,
                                   absl::Span<const float> x,
                                   absl::Span<const size_t> scale_of_row,
                                   int64_t scales);

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_HOST_ROWS_H_

#ifndef ZYFA_NUMERICS_ERROR_METRICS_H_
#define ZYFA_NUMERICS_ERROR_METRICS_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "zyfa/numerics/bf16.h"

namespace zyfa::numerics {

// How far `actual` is from `reference`, element by element.
//
// Values that are not finite: the same infinity on both sides agrees exactly
// and is left out of all sums. Any other pair with an Inf or a NaN on either
// side (a NaN never agrees, not even with a NaN) makes the errors +Inf and the
// cosine -1: worse than any bar, however it is compared.
struct ErrorMetrics {
  // ||actual - reference|| / ||reference||, Euclidean norms over all elements.
  // If the reference is all zeros: 0 if actual is so too, else +Inf.
  double relative_rmse = 0.0;
  // Largest |actual - reference| and the first index that has it; -1 if there
  // are no elements.
  double max_abs_error = 0.0;
  int64_t max_abs_index = -1;
  // <actual, reference> / (||actual|| ||reference||) in [-1, 1]. 1 if both are
  // all zeros (or there are no elements), 0 if only one is.
  double cosine = 1.0;
  // The largest relative_rmse of a single row, and the first row that has it;
  // -1 if there are no elements.
  double worst_row_relative_rmse = 0.0;
  int64_t worst_row = -1;
  // Elements that made the errors infinite by the rule above.
  int64_t non_finite_mismatches = 0;
};

// Rows are runs of row_length elements. Sums are kept in long double.
// InvalidArgument if the sizes differ, or row_length is below 1 or does not
// divide them.
absl::StatusOr<ErrorMetrics> CompareToReference(
    std::span<const double> actual, std::span<const double> reference,
    int64_t row_length);
absl::StatusOr<ErrorMetrics> CompareToReference(
    std::span<const float> actual, std::span<const double> reference,
    int64_t row_length);
absl::StatusOr<ErrorMetrics> CompareToReference(
    std::span<const Bf16> actual, std::span<const double> reference,
    int64_t row_length);

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_ERROR_METRICS_H_

#include "zyfa/numerics/error_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace zyfa::numerics {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double ToDouble(double x) { return x; }
double ToDouble(float x) { return x; }
double ToDouble(Bf16 x) { return x.ToFloat(); }

struct Sums {
  long double error2 = 0.0L;
  long double actual2 = 0.0L;
  long double reference2 = 0.0L;
  long double product = 0.0L;
  int64_t mismatches = 0;

  void Add(const Sums& other) {
    error2 += other.error2;
    actual2 += other.actual2;
    reference2 += other.reference2;
    product += other.product;
    mismatches += other.mismatches;
  }

  double RelativeRmse() const {
    if (mismatches > 0) return kInf;
    if (error2 == 0.0L) return 0.0;
    if (reference2 == 0.0L) return kInf;
    return static_cast<double>(std::sqrt(error2 / reference2));
  }

  double Cosine() const {
    if (mismatches > 0) return -1.0;
    if (actual2 == 0.0L || reference2 == 0.0L) {
      return actual2 == reference2 ? 1.0 : 0.0;
    }
    const long double cosine =
        product / (std::sqrt(actual2) * std::sqrt(reference2));
    return static_cast<double>(std::clamp(cosine, -1.0L, 1.0L));
  }
};

template <typename T>
absl::StatusOr<ErrorMetrics> Compare(std::span<const T> actual,
                                     std::span<const double> reference,
                                     int64_t row_length) {
  if (actual.size() != reference.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "actual has ", actual.size(), " elements; allowed: ", reference.size(),
        ", as many as reference"));
  }
  const int64_t size = static_cast<int64_t>(actual.size());
  if (row_length < 1 || size % row_length != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("row_length is ", row_length,
                     "; allowed: positive divisors of the size, ", size));
  }
  ErrorMetrics metrics;
  Sums total;
  for (int64_t begin = 0; begin < size; begin += row_length) {
    Sums row;
    for (int64_t i = begin; i < begin + row_length; ++i) {
      const double a = ToDouble(actual[i]);
      const double r = reference[i];
      double error = kInf;
      if (std::isfinite(a) && std::isfinite(r)) {
        const long double difference = static_cast<long double>(a) - r;
        row.error2 += difference * difference;
        row.actual2 += static_cast<long double>(a) * a;
        row.reference2 += static_cast<long double>(r) * r;
        row.product += static_cast<long double>(a) * r;
        error = static_cast<double>(std::abs(difference));
      } else if (a == r) {
        error = 0.0;
      } else {
        ++row.mismatches;
      }
      if (metrics.max_abs_index < 0 || error > metrics.max_abs_error) {
        metrics.max_abs_error = error;
        metrics.max_abs_index = i;
      }
    }
    const double row_rmse = row.RelativeRmse();
    if (metrics.worst_row < 0 || row_rmse > metrics.worst_row_relative_rmse) {
      metrics.worst_row_relative_rmse = row_rmse;
      metrics.worst_row = begin / row_length;
    }
    total.Add(row);
  }
  metrics.relative_rmse = total.RelativeRmse();
  metrics.cosine = total.Cosine();
  metrics.non_finite_mismatches = total.mismatches;
  return metrics;
}

}  // namespace

absl::StatusOr<ErrorMetrics> CompareToReference(
    std::span<const double> actual, std::span<const double> reference,
    int64_t row_length) {
  return Compare(actual, reference, row_length);
}
absl::StatusOr<ErrorMetrics> CompareToReference(
    std::span<const float> actual, std::span<const double> reference,
    int64_t row_length) {
  return Compare(actual, reference, row_length);
}
absl::StatusOr<ErrorMetrics> CompareToReference(
    std::span<const Bf16> actual, std::span<const double> reference,
    int64_t row_length) {
  return Compare(actual, reference, row_length);
}

}  // namespace zyfa::numerics

#include "zyfa/kernels/testing/error_limits.h"

#include <algorithm>
#include <cmath>

namespace zyfa::testing {
namespace {

// Numerics 2, e4m3 exact and lean: the weights' error from the mean factor.
struct WeightError {
  double rms;
  double largest;
};
constexpr WeightError kExact = {0.0265, 0.060};
constexpr WeightError kLean = {0.0314, 0.080};
// INT8: also where a row's largest weight has another place in its binade than
// the base reference, up to 1/24 from the mean factor.
constexpr WeightError kShift = {0.036, 0.090};

// e^2 of a weight varies by about its own mean; deviations of as many standard
// deviations are allowed.
constexpr double kSigmas = 5.0;
// Scores within a few binades have no uniform fractions.
constexpr double kNotUniform = 1.15;
// The 128 values of a row are a sample of what numbers of a Gaussian do: the
// norms of error and output each vary by 1/16.
constexpr double kRowSpread = 1 + kSigmas * 0.0625 * 1.42;
// Roundings of outputs, root mean square and at most. e4m3: 2^-4 at most.
struct Rounding {
  double rms;
  double largest;
};
constexpr Rounding kBf16 = {4e-3, 4e-3};
constexpr Rounding kE4m3 = {0.03, 0.0625};
// Between the mean factor of all weights and that of the reference, and float32
// sums.
constexpr double kLseBias = 3e-3;

double OutputError(const WeightError& e, double independent) {
  return std::min(
      e.largest,
      kNotUniform * e.rms * std::sqrt(1 + kSigmas / std::sqrt(independent)));
}

}  // namespace

ErrorLimits Fp8ErrorLimits(const Fp8Errors& errors) {
  const WeightError& e = errors.probability == Probability::kExact  ? kExact
                         : errors.probability == Probability::kLean ? kLean
                                                                    : kShift;
  ErrorLimits limits;
  double all = 0;
  double least = HUGE_VAL;
  for (size_t i = 0; i < errors.lse.size(); ++i) {
    const double n =
        std::isinf(errors.lse[i]) || errors.few_scores
            ? 1.0
            : std::exp(2 * errors.lse[i] - errors.lse_of_doubled[i]);
    all += n;
    least = std::min(least, n);
    limits.lse.push_back(std::min(e.largest, kSigmas * e.rms / std::sqrt(n)) +
                         kLseBias);
  }
  const Rounding& rounding = errors.output_fp8 ? kE4m3 : kBf16;
  limits.relative_rmse = OutputError(e, errors.few_scores ? 1.0 : all);
  limits.relative_rmse = std::hypot(limits.relative_rmse, rounding.rms);
  limits.worst_row =
      std::hypot(kRowSpread * OutputError(e, least), rounding.largest);
  return limits;
}

}  // namespace zyfa::testing

#include "zyfa/peers/error_bound.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/reference/problem.h"

namespace zyfa::peers {
namespace {

// Code of the largest probability, and where exp2 meets the middle between the
// linear function and itself: a common factor cancels against the row sum.
constexpr double kLargestCode = 55.536;
constexpr double kLinearError = 0.0615;  // of 1 + f against exp2(f)

double CodeError(double octaves) {
  const double exact = std::exp2(-octaves);
  const double unit =
      std::exp2((kLargestCode - 56) / 8) * (1 + kLinearError / 2);
  const double code = std::clamp(kLargestCode - 8 * octaves, 0.0, 126.0);
  double error = 0;
  for (const double rounded : {std::floor(code), std::ceil(code)}) {
    const numerics::E4m3 p = {static_cast<uint8_t>(rounded)};
    error = std::max(error, std::fabs(double{p.ToFloat()} / unit - exact));
  }
  return error;
}

// fmha_v3 for head dim 256: a wave takes the linear exponential for a tile
// whose probabilities are all below 1/16 of the row sum so far.
bool MixesExponentials(const AiterKernel& kernel) {
  return kernel.family == Family::kFmhaV3 && kernel.head_dim_v == 256;
}

}  // namespace

double LseErrorBound(const AiterKernel& kernel) {
  return MixesExponentials(kernel) ? kLinearError / 2 : 2e-6;
}

std::optional<double> PublishedError(const AiterKernel& kernel,
                                     const AiterProblem& problem) {
  const int64_t fewest =
      kernel.family == Family::kFmhaV3 && kernel.group ? 171 : 256;
  for (const AiterProblem::Sequence& s : problem.sequences) {
    if (s.keys < fewest) return std::nullopt;
  }
  const bool causal = kernel.mask == reference::Mask::kCausal;
  switch (kernel.family) {
    case Family::kFmhaV3:
      if (kernel.query.format == Format::kBf16) {
        if (kernel.head_dim_qk == 192) return causal ? 0.0066 : 0.0020;
        return causal ? 0.0078 : 0.0019;
      }
      if (kernel.head_dim_qk == 256) return causal ? 0.0375 : 0.0085;
      return causal ? 0.052 : 0.016;
    case Family::kFmhaV4:
      if (kernel.query.format == Format::kInt8) return 0.020;
      return kernel.query.format == Format::kE4m3 &&
                     kernel.query.scaling == Scaling::kPerBlock
                 ? 0.106
                 : 0.042;
    case Family::kMlaPs:
      return causal ? 0.033 : 0.010;
    case Family::kMlaPaged:
      return std::nullopt;
  }
  return std::nullopt;
}

double ProbabilityError(const AiterKernel& kernel, double octaves) {
  const double p = std::exp2(-octaves);
  const bool linear =
      kernel.family == Family::kFmhaV4 || MixesExponentials(kernel);
  const double e4m3 = std::max(p * std::exp2(-4.0), std::exp2(-10.0));
  if (kernel.query.format == Format::kE2m3 ||
      kernel.query.format == Format::kE2m1) {
    return CodeError(octaves);
  }
  if (linear) return p * kLinearError / 2 + e4m3 * (1 + kLinearError / 2);
  return kernel.value.format == Format::kBf16 ? p * std::exp2(-8.0) : e4m3;
}

std::vector<double> RowErrorBound(const AiterKernel& kernel,
                                  absl::Span<const double> weights,
                                  const double* values, int64_t value_stride,
                                  absl::Span<const double> exact) {
  double sum = 0;
  double error_sum = 0;
  std::vector<double> weighted(exact.size(), 0.0);
  for (size_t j = 0; j < weights.size(); ++j) {
    const double error = ProbabilityError(kernel, -std::log2(weights[j]));
    sum += weights[j];
    error_sum += error;
    const double* row = values + static_cast<int64_t>(j) * value_stride;
    for (size_t d = 0; d < exact.size(); ++d) {
      weighted[d] += error * std::fabs(row[d]);
    }
  }
  for (size_t d = 0; d < exact.size(); ++d) {
    const double o = std::fabs(exact[d]);
    weighted[d] =
        (weighted[d] + error_sum * o) / (sum - error_sum) + std::exp2(-8.0) * o;
  }
  return weighted;
}

}  // namespace zyfa::peers

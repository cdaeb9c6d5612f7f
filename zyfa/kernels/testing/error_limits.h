#ifndef ZYFA_KERNELS_TESTING_ERROR_LIMITS_H_
#define ZYFA_KERNELS_TESTING_ERROR_LIMITS_H_

#include <span>
#include <vector>

#include "zyfa/variant/variant.h"

namespace zyfa::testing {

// How far attention may be from float64. The default: BF16, whose LSE is as
// good as float32 (`lse` empty). Two roundings to bf16 (2^-9 at most each) of
// which one averages out; rows whose values cancel are relatively worse.
struct ErrorLimits {
  double relative_rmse = 4e-3;
  double worst_row = 2e-2;
  std::vector<double> lse;  // absolute, by row
};

struct Fp8Errors {
  Probability probability = Probability::kLean;
  bool output_fp8 = false;
  bool few_scores = false;  // AttentionCase::few_scores
  // Of the rows: exact LSE, and with a softmax scale twice as large.
  std::span<const double> lse;
  std::span<const double> lse_of_doubled;
};

// What a kernel with e4m3 codes of P may do. A weight of P is relatively wrong
// by e, which depends on the fraction of its score in binades: numerics 2 has
// the root mean square and the largest e over all fractions. Row sums are those
// of the rounded weights, so a row's output is the mean of V under slightly
// wrong weights. V's rows being independent, the relative error of the output
// is the root of the mean of e^2, weighted by the weights' squares: of about
//
//   N = (sum w)^2 / sum w^2 = exp(2 lse - lse_of_doubled)
//
// independent weights; for few ones, or fractions that are not spread, it may
// reach the largest e. The LSE is wrong by the weighted mean of e.
ErrorLimits Fp8ErrorLimits(const Fp8Errors& errors);

}  // namespace zyfa::testing

#endif  // ZYFA_KERNELS_TESTING_ERROR_LIMITS_H_

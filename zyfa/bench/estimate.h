#ifndef ZYFA_BENCH_ESTIMATE_H_
#define ZYFA_BENCH_ESTIMATE_H_

#include <optional>

#include "absl/types/span.h"

namespace zyfa::bench {

struct Estimate {
  double mean = 0;
  // sqrt(sum (x - mean)^2 / (n (n - 1))); none from a single sample.
  std::optional<double> standard_error;
};

// Of one sample at least, each as good as any other.
Estimate MeanOf(absl::Span<const double> samples);

// Of a[i] - b[i]; as many of both.
Estimate PairedDifference(absl::Span<const double> a,
                          absl::Span<const double> b);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_ESTIMATE_H_

#include "zyfa/bench/estimate.h"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace zyfa::bench {

Estimate MeanOf(absl::Span<const double> samples) {
  const auto count = static_cast<double>(samples.size());
  Estimate estimate;
  estimate.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  if (samples.size() < 2) return estimate;
  double squares = 0;
  for (const double x : samples) {
    squares += (x - estimate.mean) * (x - estimate.mean);
  }
  estimate.standard_error = std::sqrt(squares / (count * (count - 1)));
  return estimate;
}

Estimate PairedDifference(absl::Span<const double> a,
                          absl::Span<const double> b) {
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  return MeanOf(differences);
}

}  // namespace zyfa::bench

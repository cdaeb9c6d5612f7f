#include "zyfa/emu/cycles/traffic_bounds.h"

#include <algorithm>
#include <vector>

namespace zyfa::emu {

double L2BoundClocks(absl::Span<const uint32_t> order,
                     absl::Span<const double> bytes,
                     const CycleConstants& constants, const Machine& machine) {
  if (constants.l2_bytes_per_clock_xcd <= 0) return 0;
  std::vector<double> sums(static_cast<size_t>(machine.xcds));
  for (size_t i = 0; i < order.size(); ++i) {
    sums[i % sums.size()] += bytes[order[i]];
  }
  return *std::max_element(sums.begin(), sums.end()) /
         constants.l2_bytes_per_clock_xcd;
}

double HbmBoundNs(double bytes, const CycleConstants& constants) {
  if (constants.hbm_bytes_per_ns <= 0) return 0;
  return bytes / constants.hbm_bytes_per_ns;
}

}  // namespace zyfa::emu

#include "zyfa/kernels/testing/int8_codes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "zyfa/numerics/elementary.h"
#include "zyfa/variant/int8_rule.h"

namespace zyfa::testing {
namespace {

constexpr double kMostMultiplier = 255;
constexpr double kLargestCode = 127;

int8_t CodeOf(double x) {
  return static_cast<int8_t>(
      std::clamp(std::nearbyint(x), -kLargestCode, kLargestCode));
}

double LargestOf(std::span<const float> values) {
  double largest = 0;
  for (const float x : values) largest = std::max(largest, std::abs(double{x}));
  return largest;
}

}  // namespace

Int8Keys MakeInt8Keys(std::span<const float> values, int64_t head_dim,
                      double largest, bool multiply) {
  Int8Keys keys;
  if (largest == 0) largest = 1;
  keys.step = largest / kLargestCode / (multiply ? kMostMultiplier : 1);
  const auto dim = static_cast<size_t>(head_dim);
  for (size_t first = 0; first < values.size(); first += dim) {
    const std::span<const float> row = values.subspan(first, dim);
    double m = 1;
    if (multiply) {
      m = std::clamp(std::ceil(LargestOf(row) / largest * kMostMultiplier), 1.0,
                     kMostMultiplier);
    }
    keys.multipliers.push_back(static_cast<uint32_t>(m));
    for (const float x : row) keys.codes.push_back(CodeOf(x / (m * keys.step)));
  }
  return keys;
}

Int8Query MakeInt8Query(std::span<const float> values, double softmax_scale,
                        double key_step) {
  Int8Query query;
  const double slope = 8 * numerics::kLog2E * softmax_scale * key_step;
  const double largest = LargestOf(values) * std::abs(slope);
  int shift = kInt8LargestShift;
  while (shift > 0 && std::ldexp(largest, shift) > kLargestCode + 0.49) --shift;
  query.shift = static_cast<uint8_t>(shift);
  // Scores that are too large even so are made smaller.
  const double fit =
      shift == 0 && largest > kLargestCode ? kLargestCode / largest : 1.0;
  for (const float x : values) {
    query.codes.push_back(CodeOf(std::ldexp(x * slope * fit, shift)));
  }
  return query;
}

}  // namespace zyfa::testing

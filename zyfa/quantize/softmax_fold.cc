#include "zyfa/quantize/softmax_fold.h"

#include <cmath>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace zyfa {
namespace {

constexpr float kLog2e = 1.44269504f;  // as the kernels have it

bool IsPowerOfTwo(float x) {
  int exponent = 0;
  return std::frexp(std::fabs(x), &exponent) == 0.5f;
}

// In [1, 2), with a power of two for scale * log2 e * unit.
std::optional<float> UnitOf(float scale) {
  const float product = scale * kLog2e;
  int exponent = 0;
  const float mantissa = 2 * std::frexp(std::fabs(product), &exponent);
  const float nearest = mantissa == 1.0f ? 1.0f : 2.0f / mantissa;
  for (const float unit : {nearest, std::nextafter(nearest, 1.0f),
                           std::nextafter(nearest, 2.0f)}) {
    if (unit < 2.0f && IsPowerOfTwo(product * unit)) return unit;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<SoftmaxFold> FoldSoftmaxScale(float softmax_scale) {
  const float magnitude = std::fabs(softmax_scale);
  if (!(magnitude >= 0x1p-60f && magnitude <= 0x1p60f)) {
    return absl::InvalidArgumentError(
        absl::StrCat("softmax_scale is ", softmax_scale,
                     "; allowed: magnitudes from 2^-60 to 2^60"));
  }
  float below = softmax_scale;
  float above = softmax_scale;
  while (true) {
    for (const float scale : {below, above}) {
      const std::optional<float> unit = UnitOf(scale);
      if (unit.has_value()) return SoftmaxFold{scale, *unit};
    }
    below = std::nextafter(below, 0.0f);
    above = std::nextafter(above, softmax_scale * 2);
  }
}

}  // namespace zyfa

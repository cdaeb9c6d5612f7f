#include "zyfa/models/row_functions.h"

#include <cmath>

#include "zyfa/numerics/elementary.h"

namespace zyfa::models {

void RmsNorm(const float* x, const float* weights, int64_t count,
             double epsilon, float* y) {
  double squares = 0;
  for (int64_t i = 0; i < count; ++i) squares += double{x[i]} * x[i];
  const double mean = squares / static_cast<double>(count);
  const float factor = static_cast<float>(1.0 / std::sqrt(mean + epsilon));
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] * factor * weights[i];
}

void GatedSilu(float* gate, const float* up, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const double z = gate[i];
    const double silu = z / (1.0 + numerics::Exp2(-z * numerics::kLog2E));
    gate[i] = static_cast<float>(silu) * up[i];
  }
}

Rope::Rope(int64_t positions, int64_t dim, double theta)
    : half_(dim / 2), cos_(positions * half_), sin_(positions * half_) {
  const double log2_theta = numerics::Log(theta) * numerics::kLog2E;
  for (int64_t i = 0; i < half_; ++i) {
    const double radians = numerics::Exp2(
        -static_cast<double>(i) / static_cast<double>(half_) * log2_theta);
    const double turns = radians / numerics::kTwoPi;
    for (int64_t t = 0; t < positions; ++t) {
      const numerics::SinCos angle =
          numerics::SinCosOfTurns(static_cast<double>(t) * turns);
      cos_[t * half_ + i] = static_cast<float>(angle.cos);
      sin_[t * half_ + i] = static_cast<float>(angle.sin);
    }
  }
}

void Rope::Rotate(int64_t position, float* u) const {
  const float* cos = cos_.data() + position * half_;
  const float* sin = sin_.data() + position * half_;
  for (int64_t i = 0; i < half_; ++i) {
    const float low = u[i];
    const float high = u[i + half_];
    u[i] = low * cos[i] - high * sin[i];
    u[i + half_] = high * cos[i] + low * sin[i];
  }
}

}  // namespace zyfa::models

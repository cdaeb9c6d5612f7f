#ifndef ZYFA_MODELS_ROW_FUNCTIONS_H_
#define ZYFA_MODELS_ROW_FUNCTIONS_H_

#include <cstdint>
#include <vector>

namespace zyfa::models {

// What the forward pass does to single rows, in float32.

// y[i] = x[i] / sqrt(mean of x^2 + epsilon) * weights[i]; the mean in double.
void RmsNorm(const float* x, const float* weights, int64_t count,
             double epsilon, float* y);

// gate[i] = silu(gate[i]) * up[i], silu(z) = z / (1 + e^-z).
void GatedSilu(float* gate, const float* up, int64_t count);

// Rotary position embedding: at position t, with h = dim / 2 and the angle
// a = t * theta^(-i/h), the pair (u[i], u[i+h]) turns by a.
class Rope {
 public:
  // For positions 0 .. positions-1; `dim` is even.
  Rope(int64_t positions, int64_t dim, double theta);

  // Rotates the `dim` numbers at u.
  void Rotate(int64_t position, float* u) const;

 private:
  int64_t half_;
  std::vector<float> cos_;  // [position][half]
  std::vector<float> sin_;
};

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_ROW_FUNCTIONS_H_

#ifndef ZYFA_MODELS_LINEAR_H_
#define ZYFA_MODELS_LINEAR_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/numerics/bf16.h"

namespace zyfa::models {

// y = W x in float32 for bf16 weights W, [out][in]. Each element is one chain
// of products and sums over the inputs in ascending order.
class Linear {
 public:
  Linear() = default;
  // `weights` has outputs * inputs elements.
  Linear(absl::Span<const numerics::Bf16> weights, int64_t outputs,
         int64_t inputs);

  int64_t outputs() const { return outputs_; }
  int64_t inputs() const { return inputs_; }

  // x is [rows][inputs], y [rows][outputs].
  void Apply(int64_t rows, const float* x, float* y) const;

 private:
  int64_t outputs_ = 0;
  int64_t inputs_ = 0;
  // Panels of 16 outputs, [panel][input][16]: one panel stays in the cache
  // while rows pass. The last one is filled up with zeros.
  std::vector<float> panels_;
};

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_LINEAR_H_

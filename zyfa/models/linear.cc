#include "zyfa/models/linear.h"

#include <algorithm>

#include "zyfa/reference/tile_product.h"

namespace zyfa::models {
namespace {

constexpr int64_t kPanel = reference::kColumnBlock;
// Rows whose sums wait in a buffer.
constexpr int64_t kRows = 32;

}  // namespace

Linear::Linear(absl::Span<const numerics::Bf16> weights, int64_t outputs,
               int64_t inputs)
    : outputs_(outputs),
      inputs_(inputs),
      panels_((outputs + kPanel - 1) / kPanel * kPanel * inputs) {
  for (int64_t o = 0; o < outputs; ++o) {
    float* panel = panels_.data() + o / kPanel * kPanel * inputs + o % kPanel;
    for (int64_t i = 0; i < inputs; ++i) {
      panel[i * kPanel] = weights[o * inputs + i].ToFloat();
    }
  }
}

void Linear::Apply(int64_t rows, const float* x, float* y) const {
  float sums[kRows * kPanel];
  for (int64_t first = 0; first < outputs_; first += kPanel) {
    const float* panel = panels_.data() + first * inputs_;
    const int64_t columns = std::min(kPanel, outputs_ - first);
    for (int64_t row = 0; row < rows; row += kRows) {
      const int64_t count = std::min(kRows, rows - row);
      std::fill_n(sums, count * kPanel, 0.0f);
      reference::AddTileProduct(count, inputs_, kPanel, x + row * inputs_,
                                inputs_, panel, kPanel, sums, kPanel);
      for (int64_t r = 0; r < count; ++r) {
        std::copy_n(sums + r * kPanel, columns,
                    y + (row + r) * outputs_ + first);
      }
    }
  }
}

}  // namespace zyfa::models

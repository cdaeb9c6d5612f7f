#include "zyfa/peers/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/numerics/e8m0.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/element_codes.h"

namespace zyfa::peers {
namespace {

using numerics::E8m0;

// Index of the scale of element [batch][seq][head][dim].
int64_t ScaleIndex(Scaling scaling, BlockAxis axis, const Extent& e,
                   int64_t batch, int64_t seq, int64_t head, int64_t dim) {
  switch (scaling) {
    case Scaling::kNone:
    case Scaling::kPerTensor:
      return 0;
    case Scaling::kPerChannel:
      return (batch * e.heads + head) * e.dim + dim;
    case Scaling::kPerBlock:
      break;
  }
  if (axis == BlockAxis::kHeadDim) {
    return ((batch * e.seq + seq) * e.heads + head) * (e.dim / kScaleBlock) +
           dim / kScaleBlock;
  }
  const int64_t blocks = (e.seq + kScaleBlock - 1) / kScaleBlock;
  return ((batch * e.heads + head) * blocks + seq / kScaleBlock) * e.dim + dim;
}

int64_t ScaleCount(Scaling scaling, BlockAxis axis, const Extent& e) {
  if (e.elements() == 0) return 0;
  return ScaleIndex(scaling, axis, e, e.batch - 1, e.seq - 1, e.heads - 1,
                    e.dim - 1) +
         1;
}

// Calls visit(element, scale) for all elements in order.
template <class Visit>
void ForEach(Scaling scaling, BlockAxis axis, const Extent& e, Visit visit) {
  size_t element = 0;
  for (int64_t batch = 0; batch < e.batch; ++batch) {
    for (int64_t seq = 0; seq < e.seq; ++seq) {
      for (int64_t head = 0; head < e.heads; ++head) {
        for (int64_t dim = 0; dim < e.dim; ++dim, ++element) {
          visit(element, static_cast<size_t>(ScaleIndex(scaling, axis, e, batch,
                                                        seq, head, dim)));
        }
      }
    }
  }
}

}  // namespace

QuantizedTensor Quantize(OperandFormat format, BlockAxis axis,
                         const Extent& extent, absl::Span<const float> x) {
  QuantizedTensor out;
  out.format = format;
  out.extent = extent;
  out.codes.resize(x.size());
  out.values.resize(x.size());
  std::vector<float> largest(
      static_cast<size_t>(ScaleCount(format.scaling, axis, extent)), 0.0f);
  ForEach(format.scaling, axis, extent, [&](size_t i, size_t scale) {
    largest[scale] = std::max(largest[scale], std::fabs(x[i]));
  });

  std::vector<float> scales(largest.size(), 1.0f);
  for (size_t s = 0; s < scales.size(); ++s) {
    const float full = largest[s] / LargestNumber(format.format);
    if (format.scaling == Scaling::kPerBlock) {
      out.block_scales.push_back(
          E8m0::FromFloat(full, numerics::PowerRounding::kUp));
      scales[s] = out.block_scales.back().ToFloat();
    } else if (format.scaling != Scaling::kNone) {
      scales[s] = full > 0 ? full : 1.0f;
    }
  }
  if (format.scaling == Scaling::kPerTensor ||
      format.scaling == Scaling::kPerChannel) {
    out.float_scales = scales;
  }
  ForEach(format.scaling, axis, extent, [&](size_t i, size_t scale) {
    out.codes[i] = Encode(format.format, x[i] / scales[scale]);
    out.values[i] = double{Decode(format.format, out.codes[i])} *
                    static_cast<double>(scales[scale]);
  });
  return out;
}

}  // namespace zyfa::peers

#ifndef ZYFA_PEERS_QUANTIZE_H_
#define ZYFA_PEERS_QUANTIZE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/numerics/e8m0.h"
#include "zyfa/peers/aiter_kernel.h"

namespace zyfa::peers {

// Sizes of a tensor [batch][seq][head][dim].
struct Extent {
  int64_t batch = 1;
  int64_t seq = 0;
  int64_t heads = 1;
  int64_t dim = 128;
  int64_t rows() const { return batch * seq * heads; }
  int64_t elements() const { return rows() * dim; }
};

// Elements that share a block scale.
inline constexpr int64_t kScaleBlock = 32;

// Which neighbours share a block scale: those that one dot product adds up.
enum class BlockAxis {
  kHeadDim,   // Q and K
  kSequence,  // V
};

// A tensor in a kernel's format, not yet laid out for it.
struct QuantizedTensor {
  OperandFormat format;
  Extent extent;
  std::vector<uint16_t> codes;  // as the extent says
  // kPerTensor: one. kPerChannel: [batch][head][dim]. Else empty.
  std::vector<float> float_scales;
  // kPerBlock along the head dimension: [batch][seq][head][dim / 32]; along the
  // sequence: [batch][head][ceil(seq / 32)][dim]. Else empty.
  std::vector<numerics::E8m0> block_scales;
  std::vector<double> values;  // what codes and scales say, exactly
};

// Scales so that the largest element of what shares a scale meets the format's
// largest number, or falls below it where scales are powers of two (rounded
// up). `x` has extent.elements() numbers; dim is a multiple of 32 for block
// scales along the head dimension.
QuantizedTensor Quantize(OperandFormat format, BlockAxis axis,
                         const Extent& extent, absl::Span<const float> x);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_QUANTIZE_H_

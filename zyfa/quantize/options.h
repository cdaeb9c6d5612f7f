#ifndef ZYFA_QUANTIZE_OPTIONS_H_
#define ZYFA_QUANTIZE_OPTIONS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace zyfa {

// What shares a scale.
enum class ScaleGranularity {
  kTensor,     // everything: descale [1]
  kHead,       // a head of all batch entries: [heads]
  kBatchHead,  // a head of a batch entry: [batch][heads]
  // A token of a head: [batch][heads][seqlen]. Not for the attention kernels,
  // which take one descale a head.
  kToken,
};

// Descales of a tensor of these sizes.
int64_t ScaleCount(ScaleGranularity granularity, int64_t batch, int64_t heads,
                   int64_t seqlen);

// What a pass from bf16 to e4m3 does (docs/quantiser.md). In this order: the
// mean token is subtracted, the head dimension rotated, the largest magnitude
// of what shares a scale found, all divided and rounded to nearest even.
struct QuantizeOptions {
  ScaleGranularity granularity = ScaleGranularity::kTensor;
  // In [1, 2): descales are the smallest unit * 2^n that saturate nothing; 1
  // gives powers of two, SoftmaxFold::unit what folds the softmax scale. Unset:
  // largest magnitude / 448.
  std::optional<float> unit = std::nullopt;
  // Normalised Hadamard transform of the head dimension: 128, or 128 and 64.
  // The same for Q and K leaves every q . k as it is.
  bool rotate = false;
  // Subtracts the mean over the tokens of each (batch, head): for K. Attention
  // stays the same; its LSE lacks softmax_scale * q . mean.
  bool subtract_mean = false;
};

// InvalidArgument, with the field's name, its value and what is allowed, for a
// granularity that is none of the above and a unit outside [1, 2).
// `calibrated`: descales are given, so for a unit and kToken as well.
absl::Status CheckQuantizeOptions(const QuantizeOptions& options,
                                  bool calibrated);

// Tokens whose sums and maxima are taken by one work-group; what follows from
// it is the order in which a mean is summed. A multiple of 64, so that there
// are at most 65535 chunks.
constexpr int64_t QuantizeChunkRows(int64_t seqlen) {
  constexpr int64_t kMostChunks = 65535;
  const int64_t rows = (seqlen + kMostChunks - 1) / kMostChunks;
  return rows <= 256 ? 256 : (rows + 63) / 64 * 64;
}

}  // namespace zyfa

#endif  // ZYFA_QUANTIZE_OPTIONS_H_

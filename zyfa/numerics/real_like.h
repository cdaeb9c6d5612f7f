#ifndef ZYFA_NUMERICS_REAL_LIKE_H_
#define ZYFA_NUMERICS_REAL_LIKE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace zyfa::numerics {

// Synthetic attention heads with the traits of real ones that decide the error
// of low-precision attention: an attention sink on key 0 whose value is nearly
// nothing, content scores of a given spread that come in topics, a rotary
// locality bump, outlier channels in K, and values with a common part.
//
// The base is the natural 1/sqrt(head_dim_qk) softmax scale; scores below are
// in binades, x = (q . k) log2(e) / sqrt(head_dim_qk).
struct RealLikeParams {
  double sink;        // mean score of key 0 above the mean score, binades
  double spread;      // standard deviation of the content scores, binades
  double locality;    // peak of the bump at distance 0, binades
  double value_mean;  // size of the part common to all values
};

// The named sets:
//   M  strong sink, most far blocks of keys negligible (Mistral-like)
//   X  weak sink
//   V  values with a large common part
//   D  diffuse rows
//   E  stress: nearly all the weight on the sink
// InvalidArgument for any other name.
absl::StatusOr<RealLikeParams> RealLikeSet(absl::string_view name);

struct RealLikeHead {
  std::vector<float> query;  // [seqlen][head_dim_qk]
  std::vector<float> key;    // [seqlen][head_dim_qk]
  std::vector<float> value;  // [seqlen][head_dim_v]
};

// One head for causal self-attention, bit-reproducible for a seed. Rotary
// embedding acts on the first min(head_dim_qk, 128) channels, pairs (i, i +
// half). InvalidArgument unless seqlen is in [64, 2^24], head_dim_qk is a
// multiple of 16 in [16, 4096] and head_dim_v is in [1, 4096].
absl::StatusOr<RealLikeHead> MakeRealLikeHead(const RealLikeParams& params,
                                              int64_t seqlen, int head_dim_qk,
                                              int head_dim_v, uint64_t seed);

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_REAL_LIKE_H_

#ifndef ZYFA_BENCH_MADE_LAYER_H_
#define ZYFA_BENCH_MADE_LAYER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "zyfa/models/captured_layer.h"

namespace zyfa::bench {

// A layer of causal self-attention as trained models hand it on, of made heads
// of head dim 128: Gaussian numbers for set "G", else a set of
// numerics::RealLikeSet(), each head with a seed of its own. InvalidArgument as
// there and in MakeRealLikeHead().
absl::StatusOr<models::CapturedLayer> MadeLayer(absl::string_view set,
                                                int64_t seqlen, int heads,
                                                uint32_t seed);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_MADE_LAYER_H_

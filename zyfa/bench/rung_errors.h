#ifndef ZYFA_BENCH_RUNG_ERRORS_H_
#define ZYFA_BENCH_RUNG_ERRORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// A layer of causal self-attention as trained models hand it on, of made heads:
// Gaussian numbers for set "G", else a set of numerics::RealLikeSet(), each
// head with a seed of its own. InvalidArgument as there and in
// MakeRealLikeHead().
absl::StatusOr<models::CapturedLayer> MadeLayer(absl::string_view set,
                                                int64_t seqlen, int heads,
                                                uint32_t seed);

struct RungErrorOptions {
  // In work-groups of 256 consecutive rows, evenly spread.
  int64_t rows_per_head = 512;
  int threads = 0;  // 0: one a core
};

// InvalidArgument unless rows_per_head is a multiple of 256 of at most seqlen.
absl::Status CheckRows(int64_t rows_per_head, int64_t seqlen);

// A record for each of kRungs, from the numeric models of the kernels and the
// library's quantiser, sums over all heads: total_rel_rmse of the output in
// bf16, rel_rmse of the output before that rounding (BF16: behind it),
// exact_p_rel_rmse, value_rel_rmse, slow_paths. With mean key removed and
// rotation exact P of FP8 is the exact kernel's model. InvalidArgument for head
// dims other than 128 or 192 and 128, as CheckRows() and as the quantiser.
absl::StatusOr<std::vector<proto::Record>> MeasureRungs(
    const models::CapturedLayer& layer, const RungErrorOptions& options);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_RUNG_ERRORS_H_

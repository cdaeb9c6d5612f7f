#ifndef ZYFA_BENCH_CHECK_ACCURACY_H_
#define ZYFA_BENCH_CHECK_ACCURACY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// Query positions to check so that the float64 reference stays within `flops`
// (roughly): nothing if all of them do, else evenly spread ones, the first and
// the last among them, 16 at least.
std::optional<std::vector<int64_t>> RowsToCheck(const Case& c, double flops);

// Compares `output`, dense [batch][seqlen_q][heads_q][head_dim_v], with float64
// attention on `inputs` at the rows of RowsToCheck(), on `threads` threads (0:
// one a core), and sets the error fields of `record`. Internal if an output is
// NaN or infinite: inputs are finite, so it must be finite too.
absl::Status CheckAccuracy(const Case& c, const Inputs& inputs,
                           std::span<const numerics::Bf16> output,
                           double reference_flops, int threads,
                           proto::Record& record);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_CHECK_ACCURACY_H_

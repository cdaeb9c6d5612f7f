#ifndef ZYFA_BENCH_INPUT_STATISTICS_H_
#define ZYFA_BENCH_INPUT_STATISTICS_H_

#include <cstdint>
#include <vector>

#include "zyfa/models/captured_layer.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// What a layer's causal attention meets. Probabilities are those of `rows`
// (query positions, one at least) of every head, in float64; channels and keys
// those of all tokens. The ratios of channels are those of the head with the
// largest. `threads`: 0 is one a core.
proto::InputStatistics StatisticsOf(const models::CapturedLayer& layer,
                                    const std::vector<int64_t>& rows,
                                    int threads);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_INPUT_STATISTICS_H_

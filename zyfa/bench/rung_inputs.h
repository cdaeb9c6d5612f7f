#ifndef ZYFA_BENCH_RUNG_INPUTS_H_
#define ZYFA_BENCH_RUNG_INPUTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/bench/rung.h"
#include "zyfa/models/captured_layer.h"

namespace zyfa::bench {

// A query head of a layer and its KV head, as a layer of one head. `head` is
// one of the layer's.
models::CapturedLayer HeadOf(const models::CapturedLayer& layer, int64_t head);

// What the kernel of a rung is given for a layer of one head, by the library's
// quantiser. Errors are the quantiser's.
absl::StatusOr<Inputs> RungInputs(const Rung& rung,
                                  const models::CapturedLayer& head);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_RUNG_INPUTS_H_

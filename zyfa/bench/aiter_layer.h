#ifndef ZYFA_BENCH_AITER_LAYER_H_
#define ZYFA_BENCH_AITER_LAYER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/bench/layer_inputs.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/peers/aiter_kernel.h"

namespace zyfa::bench {

// Runs AITER's FP8 kernel on the emulator on what our FP8 kernels are given,
// head by head: causal attention of the query positions `rows`, whole
// work-groups of 256. Returns [query head][row][head_dim_v]. `threads`: 0 is
// one a core. Errors are the emulator's.
absl::StatusOr<std::vector<double>> RunAiterOnLayer(
    const peers::AiterKernel& kernel, const emu::CodeObject& code,
    const models::CapturedLayer& layer, const LayerInputs& inputs,
    const std::vector<int64_t>& rows, int threads);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_AITER_LAYER_H_

#ifndef ZYFA_GEN_FP8_STORE_H_
#define ZYFA_GEN_FP8_STORE_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// Divides the wave's output by its row sums and stores it, as bf16 or e4m3, and
// the LSE. Rows without a key get output 0 and LSE -infinity.
void EmitStore(KernelState& s);

// Its vector memory instructions.
inline constexpr int kStores = 2 * Geometry::kValueBlocks + 1;

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_STORE_H_

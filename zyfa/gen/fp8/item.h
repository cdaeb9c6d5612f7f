#ifndef ZYFA_GEN_FP8_ITEM_H_
#define ZYFA_GEN_FP8_ITEM_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// Arguments that stay loaded, and the wave's number.
void EmitEntry(KernelState& s);

// Reads the next_... registers for round `round` out of the table, which must
// be filled for it, and goes on to the next round.
void EmitPrepareItem(KernelState& s);

// The prepared item is now the one in hand: its bounds, addresses and scales.
void EmitTakeItem(KernelState& s);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_ITEM_H_

#ifndef ZYFA_GEN_FP8_ITEM_H_
#define ZYFA_GEN_FP8_ITEM_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// Persistent work-groups: which query tile of which batch entry and head comes
// next (zyfa/variant/item_order.h), where its tensors are, and its bounds.

// Arguments that stay loaded, the wave's number, and the group's first item
// number.
void EmitEntry(KernelState& s);

// Fills the next_... registers for number `item`, and puts the wave's rows of Q
// on their way to LDS. None if the number is past the end.
void EmitPrepareItem(KernelState& s);

// The number of the group's item in the next round.
void EmitNextNumber(KernelState& s);

// The prepared item is now the one in hand: its bounds and addresses.
void EmitTakeItem(KernelState& s);

// descriptor = `valid_rows` rows from row `row0` of the tensor at `base`.
void EmitRowDescriptor(KernelState& s, SReg descriptor, SReg base,
                       SReg row_stride, int row_bytes, SReg row0,
                       SReg valid_rows);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_ITEM_H_

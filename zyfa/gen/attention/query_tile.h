#ifndef ZYFA_GEN_ATTENTION_QUERY_TILE_H_
#define ZYFA_GEN_ATTENTION_QUERY_TILE_H_

#include "zyfa/gen/attention/kernel_state.h"

namespace zyfa::gen {

// How many key tiles the group, the wave and the wave's unmasked loop body
// have, for the query tile in hand.
void EmitTileBounds(KernelState& s);

// Sets row_desc to the wave's rows of the tensor whose base pointer and row
// stride stand at these offsets of AttentionArgs; rows that do not exist are
// out of range.
void EmitRowDescriptor(KernelState& s, size_t base_offset, SReg seq_stride,
                       int row_bytes);

// Starts the loads of Q, into registers or LDS.
void EmitQueryLoad(KernelState& s);
// Q in registers, with the softmax scale's sign, once its loads have been
// waited for. Uses the fragments' registers.
void EmitQueryArrival(KernelState& s);

// Softmax state, output and key limit of a query tile before its first key.
void EmitTileStart(KernelState& s);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_QUERY_TILE_H_

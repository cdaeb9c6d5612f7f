#ifndef ZYFA_GEN_ATTENTION_MAIN_LOOP_H_
#define ZYFA_GEN_ATTENTION_MAIN_LOOP_H_

#include "zyfa/gen/attention/kernel_state.h"

namespace zyfa::gen {

// All key tiles of the query tile in hand. Expects Q in registers, or on the
// way there, and the bounds and state of the tile; leaves O and the row sums.
//
// Trip j waits for the key tile j+1 and the value tile j, starts the loads of
// key tile j+2 and value tile j+1, and computes S(j+1) = K Q^T beside the
// softmax of S(j), then O += V^T P(j). One barrier a trip does both: what
// arrived is seen by all waves, and what is overwritten has been read by all.
void EmitMainLoop(KernelState& s);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_MAIN_LOOP_H_

#ifndef ZYFA_GEN_FP8_QUERY_H_
#define ZYFA_GEN_FP8_QUERY_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// Per-lane constants of the loads, in two parts as those of tiles.
void EmitQueryPlaces(KernelState& s, VReg rows);
void EmitQueryRows(KernelState& s, VReg rows);

// The wave's 32 rows of Q of the prepared item on their way from memory into
// the wave's own part of LDS, laid out as the rows of a key tile are. Rows that
// do not exist arrive as zeros. INT8: also the shift of the lane's row. With
// four scalar registers to hold their buffer descriptor for the time, or with
// ones of its own.
void EmitQueryLoad(KernelState& s, SReg descriptor);
void EmitQueryLoad(KernelState& s);

// Its vector memory instructions.
int QueryLoads(const Geometry& g);

// The B operand on its way from there; the rows must have arrived.
void EmitQueryRead(KernelState& s);

// Waits for it; FP8: gives it the sign of the item's scale.
void EmitQuerySign(KernelState& s);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_QUERY_H_

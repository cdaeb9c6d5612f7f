#ifndef ZYFA_GEN_FP8_QUERY_H_
#define ZYFA_GEN_FP8_QUERY_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// A wave's 32 rows of Q on their way from memory, at `address` plus row `row0`
// on, into its own part of LDS, laid out as the rows of a key tile are. Rows
// that do not exist arrive as zeros.
void EmitQueryLoad(KernelState& s, SReg address, SReg row0, SReg valid_rows);

// Its vector memory instructions.
int QueryLoads(const Geometry& g);

// The B operand from there, with the sign of the item's scale. The rows must
// have arrived.
void EmitQueryRead(KernelState& s);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_QUERY_H_

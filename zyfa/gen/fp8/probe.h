#ifndef ZYFA_GEN_FP8_PROBE_H_
#define ZYFA_GEN_FP8_PROBE_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// INT8: a look at the scores where a row's largest one often is, at its own
// place in the sequence, before the first tile (docs/int8-scores.md). With
// i0 = first row of the wave (of causal kernels + seqlen_kv - seqlen_q) these
// are keys i0 - 16 .. i0 + 31, as far as they exist and the row sees them.

// Those keys of an item on their way, of round s.round - `rounds_back`: to the
// wave's own LDS, in the place of Q, and what there is no room for in it as A
// operands to registers of scores and operands, which must be free.
void EmitProbeLoads(KernelState& s, int rounds_back);

// Vector memory instructions of it; 0 of FP8 kernels.
int ProbeLoads(const Geometry& g);

// base_reference = the row's maximum over them, in units; a masked score if it
// sees none. Q must be there, and the output stored.
void EmitProbe(KernelState& s);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_PROBE_H_

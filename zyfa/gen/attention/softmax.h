#ifndef ZYFA_GEN_ATTENTION_SOFTMAX_H_
#define ZYFA_GEN_ATTENTION_SOFTMAX_H_

#include "zyfa/gen/attention/kernel_state.h"

namespace zyfa::gen {

// Softmax of one tile of scores. A query's 64 scores stand in the 32 registers
// scores[stage] of lanes l and l + 32.
//
// Probabilities are 2^(c s - c m) with c = scale_log2e and a reference maximum
// m that moves only when a score exceeds it by more than kRescaleBinades: as
// all of a row, its sum included, refers to the same m, the result does not
// depend on it. Every decision is made for a row alone, so that a row's bits
// never depend on the other rows of its wave.

// Sets the scores behind the last visible key to minus infinity.
void EmitMask(KernelState& s, int stage);

// tile_max = row maximum of the tile, the same in both lanes of a row.
void EmitTileMax(KernelState& s, int stage);

// Goes to `rescale` if some row's reference has to move (VCC says which).
void EmitRescaleTest(KernelState& s, Label rescale);

// Moves the reference of the rows in VCC to tile_max and rescales their sums
// and outputs. Goes to `overflow` if some row's c m has grown so large that
// its rounding matters; no label: stays.
void EmitRescale(KernelState& s, const Label* overflow);

// rows = those whose c m is so large that a scaled score needs care.
void EmitCarefulRows(KernelState& s, SReg rows);

// Probabilities of the 16 keys of k step `step`: computed in place, added to
// tile_sum (to row_sum with the last step), rounded to bf16 and packed into the
// first four of the step's eight registers. The rows in *careful_rows, if
// given, take (s - m) c instead of c s - c m, which is right for all finite
// scores and scales; the others get the same bits either way.
Stream CaptureProbabilities(KernelState& s, int stage, int step, VReg tile_sum,
                            const SReg* careful_rows);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_SOFTMAX_H_

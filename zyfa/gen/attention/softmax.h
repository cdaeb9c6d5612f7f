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

// Moves the reference of the rows in VCC to tile_max, rescales their sums and
// sets `factor` for their outputs, 1 for the other rows. Goes to `overflow` if
// some row's c m has grown so large that its rounding matters; no label: stays.
void EmitRescale(KernelState& s, const Label* overflow);

// Scales the output by `factor`.
void EmitRescaleOutput(KernelState& s);

// rows = those whose c m is so large that a scaled score needs care.
void EmitCarefulRows(KernelState& s, SReg rows);

// Pieces into which the probabilities of a tile are cut, in their order: two
// score registers each.
inline constexpr int kProbabilityPieces = 8 * Geometry::kKeySteps / 2;

// Probabilities of pieces begin .. end-1: computed in place, added to tile_sum
// (which the first piece begins and the last adds to row_sum), rounded to bf16
// and packed: those of a k step of P V into the first four of its eight
// registers. The rows in *careful_rows, if given, take (s - m) c instead of
// c s - c m, which is right for all finite scores and scales; the others get
// the same bits either way.
Stream CaptureProbabilities(KernelState& s, int stage, int begin, int end,
                            const SReg* careful_rows);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_SOFTMAX_H_

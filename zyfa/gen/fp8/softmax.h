#ifndef ZYFA_GEN_FP8_SOFTMAX_H_
#define ZYFA_GEN_FP8_SOFTMAX_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// Softmax of one tile of scores. A query's 64 scores stand in the 32 registers
// `scores` of lanes l and l + 32; its codes of P come into the first 8.
//
// Units. x, in binades, is `unit_scale` times a score as the matrix unit gives
// it. Lean: scores are raw ones times 2^-64, so that code_scale, the units of
// code in one of them, can be a normal number although codes are made as
// denormals. Exact: scores are raw ones times a power of two, less the
// reference, which is the products' addend.
//
// Weights are codes times 2^(e-8), with a whole exponent e of the tile. Lean:
// the tile's maximum in binades rounded up, but for a quarter of a code, so
// that its code is 118 to 126; exact: rounded to nearest, so that the top
// weight is coded as 2^7.5 to 2^8.5. They refer to the row's reference maximum;
// e is positive where the tile exceeds that. So nothing saturates, and the
// reference only has to move for the top weight to stay well rounded: it does
// when that weighs more than kMoveShare of the row (numerics 5.3). Every
// decision is made for a row alone. A row with a NaN among the scores that it
// sees takes the same way as one whose reference moves.

// Binades below which a tile's weights do not matter.
inline constexpr float kLeastExponent = -110.0f;
// A tile's maximum that is 2^e is coded as 2^kHeadroom (lean: 1.75 * that).
inline constexpr int kHeadroom = 8;
// Lean: raw scores times 2^-kLeanShift.
inline constexpr int kLeanShift = 64;

// How the codes of a tile are made.
struct TileForm {
  bool multiply = false;  // exact: the scale is no power of two
  bool late = false;      // rows may be careful ones
  bool bounded = false;   // exact: all rows have a reference, so that their
                          // maxima can be bounded from below at once
};

// Sets the scores behind the last visible key to the masked score.
void EmitMask(KernelState& s);

// tile_max = maximum over the lane's registers of a block of 32 keys; block 0
// begins it.
void EmitBlockMax(KernelState& s, int block);
// ... over both lanes of a row; less `late` with late rows. On the way, where
// something has to be waited for, the sum of the tile before goes to the row's,
// and `between` is done.
void EmitRowMax(KernelState& s, const TileForm& form, const Stream& between);

// Goes to `move` if some row's reference may have to move, or has a NaN.
void EmitMoveTest(KernelState& s, Label move);

// Moves the reference of the rows that need it, rescales their sums and sets
// `factor` for their outputs, 1 for the other rows. The first `weights`
// registers of the tile are weights already. Goes to `stay` if no row moves;
// else comes out behind, with in VCC the rows whose reference is so large that
// its rounding matters.
void EmitMove(KernelState& s, const TileForm& form, int weights, Label stay);

// Scales the output by `factor`: the end of a move.
void EmitScaleOutput(KernelState& s);

// block_scale and what the codes of the tile need, from tile_max.
void EmitTileExponent(KernelState& s, const TileForm& form);

// Pieces into which the codes of a tile are cut: a dword of four each.
inline constexpr int kCodePieces = 8;

// Exact: the weights 2^x of pieces 0 .. end-1, which do not need the tile's
// exponent yet.
Stream CaptureWeights(KernelState& s, const TileForm& form, int end);

// All codes; of the first `weights` pieces, weights are there.
Stream CaptureCodes(KernelState& s, const TileForm& form, int weights);

// The state of rows before the first key.
void EmitSoftmaxStart(KernelState& s);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_SOFTMAX_H_

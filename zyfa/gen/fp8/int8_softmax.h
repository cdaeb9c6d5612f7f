#ifndef ZYFA_GEN_FP8_INT8_SOFTMAX_H_
#define ZYFA_GEN_FP8_INT8_SOFTMAX_H_

#include "zyfa/gen/fp8/kernel_state.h"
#include "zyfa/variant/int8_rule.h"

namespace zyfa::gen::fp8 {

// Softmax of one tile of integer scores (docs/int8-scores.md). Registers are
// those of softmax.h.
//
// Units. A row of Q has a shift n, and 2^n units are a code, 2^(n + 3) a
// binade. y is a score or, in the multiplier form, a score times its key's
// multiplier. With a base reference M, the largest y known when it was taken,
// and a whole exponent e of the tile's row,
//
//   C = C0 - M - (e << (n + 3)),  C0 = 126.5 * 2^n
//
// is `addend` (shift form: the matrix unit adds it) or `bias`; the e4m3 code of
// 2^x is (y + C) >> n, and weights are codes times 2^(e-8). next_scale and
// block_scale are e as e8m0 bytes. So C is a block scale that changes seldom:
// the output need not be scaled when e does.
//
// M is the maximum of the row's first tile and probe (probe.h), with e = 0.
// From the second tile on e is Int8Rule::start above the probe's maximum. Where
// a score comes too near to what C can code, e rises; where it would weigh much
// as well (Int8Rule::move_share), it becomes M, for the phase of M in a
// binade is what makes the largest weight as good as the others. Behind tile 1
// and each Int8Rule::period tiles e falls to what the scores since the last
// time need and Int8Rule::slack more, but not below Int8Rule::floor under the
// probe's maximum. Every decision is made for a row alone. value = its maximum
// over both lanes of a row.
void EmitOverBothLanes(KernelState& s, VReg value);

// The state of rows before the first key, and when e falls first.
void EmitInt8Start(KernelState& s);

// Multiplier form: the multipliers of the lane's keys of the tile in `stage` on
// their way.
void EmitMultiplierRead(KernelState& s, int stage);

// Sets scores behind the last visible key to one that gets code 0: for
// EmitMask().
Imm Int8MaskedScore();

// Multiplier form: y + C of the scores of a block of 32 keys.
void EmitMultiply(KernelState& s, int block);

// tile_max = maximum of it, which is that of the tiles since e fell, and the
// lane's registers of a block.
void EmitInt8BlockMax(KernelState& s, int block);

// The sum of the tile before goes to the row's; the tile's exponent.
void EmitInt8Tile(KernelState& s);

// Goes to `move` if some row's e or M may have to change or, in the item's
// first tile, is not there yet.
void EmitInt8MoveTest(KernelState& s, Label move);

// That, out of the line; goes to `stay`.
void EmitInt8Move(KernelState& s, Label stay);

// All codes of the tile.
Stream CaptureInt8Codes(KernelState& s);

// e falls where it can, from the next tile on. Says when it may the next time.
void EmitInt8Fall(KernelState& s);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_INT8_SOFTMAX_H_

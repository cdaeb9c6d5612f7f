#ifndef ZYFA_GEN_FP8_ITEM_TABLE_H_
#define ZYFA_GEN_FP8_ITEM_TABLE_H_

#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

// What a work-group needs of its items (zyfa/variant/item_order.h): which query
// tile of which batch entry and head, where its tensors are, its bounds and its
// scales. A wave works all of it out for 64 rounds at once, one a lane, so that
// an item costs it no more than reading its lane.

// Items may be short, but the streams of loads, up to three tiles ahead, must
// be in the next one at most.
inline constexpr int kLeastTiles = 3;
// Tiles of a round without an item, with which the streams go on.
inline constexpr int kEndless = 1 << 30;

// Fills s.table for rounds s.round .. s.round + 63; s.round is a multiple of
// 64.
void EmitFillItemTable(KernelState& s);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_ITEM_TABLE_H_

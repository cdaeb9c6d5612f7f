#ifndef ZYFA_GEN_FP8_ITEM_TABLE_H_
#define ZYFA_GEN_FP8_ITEM_TABLE_H_

#include <initializer_list>
#include <optional>

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
// 64. In two parts, so that loads need not wait for what they do not need, each
// with scalar loads that are on their way some time before.
class ItemTableFill {
 public:
  explicit ItemTableFill(KernelState& state);

  // What EmitForLoads needs, on its way.
  void EmitArgumentLoads();
  // The fields for EmitPrepareItem.
  void EmitForLoads();
  // What EmitForTake needs, on its way.
  void EmitMoreArgumentLoads();
  // Those for EmitTakeItem, some time later.
  void EmitForTake();

 private:
  // bases += batch * batch_stride of the tensors in hand.
  void EmitBatchAddresses(std::initializer_list<VReg> bases);
  void EmitGroupBounds(SReg exists);
  void EmitForInt8Loads(SReg exists);
  void EmitWaveBounds();
  // Descales of Q, K and V, from memory or the arguments' numbers. Those from
  // memory are on their way behind this.
  void EmitDescales(VReg descales);

  KernelState& s;
  Assembler& a;
  // Strides and addresses of the tensors in hand.
  ScopedSReg tensors_;
  // First multiplier and shift of columns and of heads_q; then the numbers in
  // place of descales.
  ScopedSReg numbers_;
  std::optional<ScopedSReg> descales_;  // their addresses, or 0
  // Between items no operand is on its way: in their place.
  VReg tile_, batch_, head_, kv_head_;
  VReg row0_, valid_rows_;  // of the wave
  VReg descales_of_items_;
};

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_ITEM_TABLE_H_

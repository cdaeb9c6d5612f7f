#include "zyfa/gen/fp8/item.h"

#include "zyfa/gen/asm/buffer_address.h"
#include "zyfa/gen/fp8/item_table.h"

namespace zyfa::gen::fp8 {
namespace {

// d = the lane of the table's field.
void EmitRead(Assembler& a, SReg d, VReg field, SReg lane) {
  for (int i = 0; i < field.count(); ++i) {
    a.v_readlane_b32(d[i], field[i], lane);
  }
}

}  // namespace

void EmitEntry(KernelState& s) {
  Assembler& a = s.a;
  a.Section("Entry: arguments, wave number");
  a.s_load_dwordx8(s.shape, s.kernarg,
                   static_cast<int>(KernelState::kShapeOffset));
  a.s_load_dwordx8(s.control, s.kernarg,
                   static_cast<int>(KernelState::kControlOffset));
  a.Comment("only so that all lines of the arguments are on their way; into a");
  a.Comment("register that is not written before they are there");
  a.s_load_dword(s.lse[0], s.kernarg, 0);
  {
    ScopedVReg thread = a.vgprs().Scoped("thread");
    ScopedVReg number = a.vgprs().Scoped("wave_number");
    a.v_and_b32(thread, 0x3ff, a.workitem_id());
    a.v_lshrrev_b32(number, 6, thread);
    a.v_readfirstlane_b32(s.wave, number);
    a.s_lshr_b32(s.group, s.wave, 2);
    a.v_and_b32(s.query_lane, 31, thread);
    a.v_bfe_u32(s.half, thread, 5, 1);
  }
  a.s_mov_b32(s.round, 0);
  a.s_mov_b32(s.first_stage, 0);
  a.s_mov_b32(s.output[3], kBufferFormat);
  a.s_mov_b32(s.lse[3], kBufferFormat);
}

void EmitPrepareItem(KernelState& s) {
  Assembler& a = s.a;
  const ItemTable& t = s.table;
  ScopedSReg lane = a.sgprs().Scoped("lane_of_round");
  a.Section("Prepare the item that comes next");
  a.s_and_b32(lane, s.round, 63);
  a.s_add_u32(s.round, s.round, 1);
  EmitRead(a, s.next_tiles, t.tiles, lane);
  EmitRead(a, s.next_key, t.key, lane);
  EmitRead(a, s.next_value, t.value, lane);
  EmitRead(a, s.next_keys, t.keys, lane);
  if (s.g.multiply) EmitRead(a, s.next_multiplier, t.multiplier, lane);
}

void EmitTakeItem(KernelState& s) {
  Assembler& a = s.a;
  const ItemTable& t = s.table;
  a.Section("Take the prepared item");
  ScopedSReg lane = a.sgprs().Scoped("lane_of_round");
  ScopedSReg last = a.sgprs().Scoped("last_key");
  a.s_sub_u32(lane, s.round, 1);
  a.s_and_b32(lane, lane, 63);
  a.s_mov_b32(s.meetings_left, s.next_tiles);
  a.s_mov_b32(s.key_tile, 0);
  EmitRead(a, s.output, t.output, lane);
  EmitRead(a, s.lse, t.lse, lane);
  EmitRead(a, s.wave_tiles, t.wave_tiles, lane);
  EmitRead(a, s.full_keys, t.full_keys, lane);
  EmitRead(a, s.plain_tiles, t.plain_tiles, lane);
  EmitRead(a, s.value_descale, t.value_descale, lane);
  if (!s.g.int8) {
    EmitRead(a, s.unit_scale, t.unit_scale, lane);
    EmitRead(a, s.inverse_unit, t.inverse_unit, lane);
    EmitRead(a, s.negate, t.negate, lane);
  }
  if (s.g.lean) EmitRead(a, s.code_scale, t.code_scale, lane);
  if (s.g.exact) {
    EmitRead(a, s.least_max, t.least_max, lane);
    ScopedSReg scales = a.sgprs().Scoped("score_scales");
    EmitRead(a, scales, t.score_scales, lane);
    a.v_mov_b32(s.score_scales, scales);
  }

  a.Comment("last visible key of the lane's row; seqlen_kv - 1");
  a.s_sub_i32(last, s.Shape(offsetof(AttentionArgs, seqlen_kv)), 1);
  if (s.g.causal) {
    ScopedSReg diagonal = a.sgprs().Scoped("diagonal");
    EmitRead(a, diagonal, t.diagonal, lane);
    a.v_add_u32(s.key_limit, diagonal, s.query_lane);
    a.v_min_i32(s.key_limit, last, s.key_limit);
  } else {
    a.v_mov_b32(s.key_limit, last);
  }
  a.Comment("register r of a score block holds key 8 (r/4) + 4 half + r%4");
  ScopedVReg shift = a.vgprs().Scoped("half_keys");
  a.v_lshlrev_b32(shift, 2, s.half);
  a.v_sub_u32(s.key_limit, s.key_limit, shift);
}

}  // namespace zyfa::gen::fp8

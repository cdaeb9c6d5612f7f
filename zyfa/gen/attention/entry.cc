#include "zyfa/gen/attention/entry.h"

namespace zyfa::gen {
namespace {

void EmitTensorBases(KernelState& s) {
  Assembler& a = s.a;
  const SReg head = a.workgroup_id_x();
  const SReg batch = a.workgroup_id_z();
  ScopedSReg kv_head = a.sgprs().Scoped("kv_head");
  a.Comment("KV head = query head / (heads_q / heads_kv)");
  a.s_mul_hi_u32(kv_head, head,
                 s.Arg(offsetof(AttentionArgs, kv_head_multiplier)));
  a.s_cmp_eq_u32(s.Arg(offsetof(AttentionArgs, kv_head_multiplier)), 0);
  a.s_cselect_b32(kv_head, head, kv_head);

  const struct {
    const char* name;
    size_t base, batch_stride, head_stride;
    SReg head;
  } kTensors[] = {
      {"Q", offsetof(AttentionArgs, query),
       offsetof(AttentionArgs, query_batch_stride),
       offsetof(AttentionArgs, query_head_stride), head},
      {"K", offsetof(AttentionArgs, key),
       offsetof(AttentionArgs, key_batch_stride),
       offsetof(AttentionArgs, key_head_stride), kv_head},
      {"V", offsetof(AttentionArgs, value),
       offsetof(AttentionArgs, value_batch_stride),
       offsetof(AttentionArgs, value_head_stride), kv_head},
      {"O", offsetof(AttentionArgs, output),
       offsetof(AttentionArgs, output_batch_stride),
       offsetof(AttentionArgs, output_head_stride), head},
  };
  for (const auto& t : kTensors) {
    a.Comment(std::string(t.name) + " of this batch and head");
    EmitAddProduct(a, s.Arg64(t.base), batch, s.Arg64(t.batch_stride));
    EmitAddProduct(a, s.Arg64(t.base), t.head, s.Arg64(t.head_stride));
  }
  // The LSE pointer stays 0 if no LSE is wanted: its strides are 0 then.
  a.Comment("LSE of this batch and head");
  const SReg lse = s.Arg64(offsetof(AttentionArgs, lse));
  EmitAddProduct(a, lse, batch,
                 s.Arg64(offsetof(AttentionArgs, lse_batch_stride)));
  EmitAddProduct(a, lse, head,
                 s.Arg64(offsetof(AttentionArgs, lse_head_stride)));
}

}  // namespace

void EmitEntry(KernelState& s) {
  Assembler& a = s.a;
  a.Section("Entry: arguments, wave number, tensors of this batch and head");
  const SReg kernarg = a.kernarg();
  static_assert(offsetof(AttentionArgs, query_descale) ==
                4 * (16 + 16 + 8 + 2));
  a.s_load_dwordx16(s.args.sub(0, 16), kernarg, 0);
  a.s_load_dwordx16(s.args.sub(16, 16), kernarg, 64);
  a.s_load_dwordx8(s.args.sub(32, 8), kernarg, 128);
  a.s_load_dwordx2(s.args.sub(40, 2), kernarg, 160);

  {
    ScopedVReg thread = a.vgprs().Scoped("thread");
    ScopedVReg number = a.vgprs().Scoped("wave_number");
    a.v_and_b32(thread, 0x3ff, a.workitem_id());
    a.v_lshrrev_b32(number, 6, thread);
    a.v_readfirstlane_b32(s.wave, number);
    a.v_and_b32(s.query_lane, 31, thread);
    a.v_bfe_u32(s.half, thread, 5, 1);
  }
  a.s_lshl_b32(s.wave_lds, s.wave, 10);

  EmitTensorBases(s);
  a.s_sub_i32(s.causal_offset, s.Arg(offsetof(AttentionArgs, seqlen_kv)),
              s.Arg(offsetof(AttentionArgs, seqlen_q)));
  a.Comment("bytes of a key tile");
  a.s_lshl_b32(s.key_step, s.Arg(offsetof(AttentionArgs, key_seq_stride)), 6);
  a.Comment("bytes of a value tile");
  a.s_lshl_b32(s.value_step, s.Arg(offsetof(AttentionArgs, value_seq_stride)),
               6);
  static_assert(kKeyTile == 1 << 6);

  if (s.g.causal) {
    // Tile i costs in proportion to i + const: i and n-1-i make equal pairs.
    a.Comment("query tiles n-1-y, then y");
    a.s_sub_u32(s.tile, s.Arg(offsetof(AttentionArgs, query_tiles)), 1);
    a.s_sub_u32(s.tile, s.tile, a.workgroup_id_y());
    a.s_mov_b32(s.other_tile, a.workgroup_id_y());
    a.s_cmp_eq_u32(s.tile, s.other_tile);
    a.s_cselect_b32(s.other_tile, -1, s.other_tile);
  } else {
    a.s_mov_b32(s.tile, a.workgroup_id_y());
    a.s_mov_b32(s.other_tile, -1);
  }
}

}  // namespace zyfa::gen

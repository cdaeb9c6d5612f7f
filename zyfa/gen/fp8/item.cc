#include "zyfa/gen/fp8/item.h"

#include <algorithm>
#include <string>

#include "zyfa/gen/asm/buffer_address.h"
#include "zyfa/gen/fp8/query.h"

namespace zyfa::gen::fp8 {
namespace {

constexpr int kEndless = 1 << 30;  // tiles
// The streams of loads are up to three tiles ahead: in the next item at most.
constexpr int kLeastTiles = 3;

SReg SeqlenQ(const KernelState& s) {
  return s.Shape(offsetof(AttentionArgs, seqlen_q));
}
SReg SeqlenKv(const KernelState& s) {
  return s.Shape(offsetof(AttentionArgs, seqlen_kv));
}

// About 2^32 / divisor, at most 2 too small: what EmitDivide needs.
void EmitReciprocal(Assembler& a, SReg reciprocal, SReg divisor) {
  ScopedVReg x = a.vgprs().Scoped("reciprocal_estimate");
  ScopedSReg error = a.sgprs().Scoped("reciprocal_error");
  a.v_cvt_f32_u32(x, divisor);
  a.v_rcp_iflag_f32(x, x);
  a.v_mul_f32(x, Bits(0x4f7ffffe), x);  // a little below 2^32
  a.v_cvt_u32_f32(x, x);
  a.v_readfirstlane_b32(reciprocal, x);
  a.Comment("one step of Newton's");
  a.s_sub_u32(error, 0, divisor);
  a.s_mul_i32(error, error, reciprocal);
  a.s_mul_hi_u32(error, reciprocal, error);
  a.s_add_u32(reciprocal, reciprocal, error);
}

// quotient, rest = number / divisor.
void EmitDivide(Assembler& a, SReg quotient, SReg rest, SReg number,
                SReg divisor, SReg reciprocal) {
  ScopedSReg q = a.sgprs().Scoped("quotient_plus_1");
  ScopedSReg r = a.sgprs().Scoped("rest_less_divisor");
  a.s_mul_hi_u32(quotient, number, reciprocal);
  a.s_mul_i32(r, quotient, divisor);
  a.s_sub_u32(rest, number, r);
  for (int i = 0; i < 2; ++i) {
    a.s_add_u32(q, quotient, 1);
    a.s_sub_u32(r, rest, divisor);
    a.s_cmp_ge_u32(rest, divisor);
    a.s_cselect_b32(quotient, q, quotient);
    a.s_cselect_b32(rest, r, rest);
  }
}

// keys = number of keys that row `row` + `ahead` sees, 0 .. seqlen_kv.
void EmitVisibleKeys(KernelState& s, SReg keys, SReg row, int ahead) {
  Assembler& a = s.a;
  if (!s.g.causal) {
    a.s_mov_b32(keys, SeqlenKv(s));
    return;
  }
  a.s_add_i32(keys, row, s.causal_offset);
  a.s_add_i32(keys, keys, ahead + 1);
  a.s_max_i32(keys, keys, 0);
  a.s_min_i32(keys, keys, SeqlenKv(s));
}

// First row of the wave in query tile `tile`, and how many rows it has. Waves w
// and w + 4 share a SIMD: their rows are chosen so that every SIMD meets as
// many key tiles along a causal diagonal as the others.
void EmitRowsOfWave(KernelState& s, SReg row0, SReg valid_rows, SReg tile) {
  Assembler& a = s.a;
  a.s_sub_u32(valid_rows, 11, s.wave);
  a.s_cmp_lt_u32(s.wave, 4);
  a.s_cselect_b32(valid_rows, s.wave, valid_rows);
  a.s_lshl_b32(row0, tile, 8);
  static_assert(kQueryTile == 1 << 8);
  a.s_lshl_b32(valid_rows, valid_rows, 5);
  a.s_add_u32(row0, row0, valid_rows);
  a.s_sub_i32(valid_rows, SeqlenQ(s), row0);
  a.s_min_i32(valid_rows, valid_rows, Geometry::kQueriesPerWave);
  a.s_max_i32(valid_rows, valid_rows, 0);
}

// Scalar loads come back in any order, so each wait is for all of them: they
// are issued in batches.

// Addresses of the item's tensors: pointers, then what batch entry and heads
// add. Q's address goes to `query`.
void EmitAddresses(KernelState& s, SReg query, SReg batch, SReg head,
                   SReg kv_head) {
  Assembler& a = s.a;
  const struct {
    const char* name;
    SReg base;
    size_t address, strides;
    SReg head;
  } kTensors[] = {
      {"Q", query, offsetof(AttentionArgs, query),
       offsetof(AttentionArgs, query_batch_stride), head},
      {"K", s.next_key, offsetof(AttentionArgs, key),
       offsetof(AttentionArgs, key_batch_stride), kv_head},
      {"V", s.next_value, offsetof(AttentionArgs, value),
       offsetof(AttentionArgs, value_batch_stride), kv_head},
      {"O", s.next_output, offsetof(AttentionArgs, output),
       offsetof(AttentionArgs, output_batch_stride), head},
      {"LSE", s.next_lse, offsetof(AttentionArgs, lse),
       offsetof(AttentionArgs, lse_batch_stride), head},
  };
  constexpr int kBatch = 3;
  ScopedSReg strides = a.sgprs().Scoped("strides", 4 * kBatch);
  for (int first = 0; first < 5; first += kBatch) {
    const int end = std::min(first + kBatch, 5);
    for (int i = first; i < end; ++i) {
      const auto& t = kTensors[i];
      a.s_load_dwordx2(t.base, s.kernarg, static_cast<int>(t.address));
      a.s_load_dwordx4(strides.sub(4 * (i - first), 4), s.kernarg,
                       static_cast<int>(t.strides));
    }
    for (int i = first; i < end; ++i) {
      const auto& t = kTensors[i];
      a.Comment(std::string(t.name) + " of this head");
      EmitAddProduct(a, t.base, t.head, strides.sub(4 * (i - first) + 2, 2));
    }
    const Label first_entry = a.NewLabel("first_batch_entry");
    a.s_cmp_eq_u32(batch, 0);
    a.s_cbranch_scc1(first_entry);
    for (int i = first; i < end; ++i) {
      const auto& t = kTensors[i];
      a.Comment(std::string(t.name) + " of this batch entry");
      EmitAddProduct(a, t.base, batch, strides.sub(4 * (i - first), 2));
    }
    a.Bind(first_entry);
  }
  a.s_and_b32(s.next_key[1], s.next_key[1], 0xffff);
  a.s_and_b32(s.next_value[1], s.next_value[1], 0xffff);
}

// Descales of Q, K and V: from memory, or the arguments' numbers. They are on
// their way behind this.
void EmitDescales(KernelState& s, SReg batch, SReg head, SReg kv_head) {
  Assembler& a = s.a;
  ScopedSReg addresses = a.sgprs().Scoped("descale_addresses", 6, 4);
  ScopedSReg strides = a.sgprs().Scoped("descale_strides", 6, 4);
  ScopedSReg number = a.sgprs().Scoped("descale_number", 2);
  ScopedSReg query_head = a.sgprs().Scoped("descale_head");
  constexpr size_t kAddress = offsetof(AttentionArgs, query_descale);
  constexpr size_t kStrides =
      offsetof(AttentionArgs, query_descale_batch_stride);
  constexpr size_t kNumber = offsetof(AttentionArgs, query_descale_value);
  static_assert(offsetof(AttentionArgs, key_descale) == kAddress + 8 &&
                offsetof(AttentionArgs, value_descale) == kAddress + 16);
  static_assert(
      offsetof(AttentionArgs, key_descale_batch_stride) == kStrides + 8 &&
      offsetof(AttentionArgs, value_descale_batch_stride) == kStrides + 16);
  static_assert(offsetof(AttentionArgs, key_descale_value) == kNumber + 4 &&
                offsetof(AttentionArgs, value_descale_value) == kNumber + 8);
  const Label numbers = a.NewLabel("descale_numbers");
  a.s_load_dwordx4(addresses.sub(0, 4), s.kernarg, static_cast<int>(kAddress));
  a.s_load_dwordx2(addresses.sub(4, 2), s.kernarg,
                   static_cast<int>(kAddress + 16));
  a.s_load_dwordx4(strides.sub(0, 4), s.kernarg, static_cast<int>(kStrides));
  a.s_load_dwordx2(strides.sub(4, 2), s.kernarg,
                   static_cast<int>(kStrides + 16));
  a.Comment("descales: none from memory?");
  a.s_or_b64(number, addresses.sub(0, 2), addresses.sub(2, 2));
  a.s_or_b64(number, number, addresses.sub(4, 2));
  for (int i = 0; i < 3; ++i) {
    a.s_load_dword(s.next_descale[i], s.kernarg,
                   static_cast<int>(kNumber) + 4 * i);
  }
  a.s_cmp_eq_u64(number, 0);
  a.s_cbranch_scc1(numbers);
  a.Comment("Q's goes by query heads or by KV heads");
  a.s_bitcmp1_b32(s.Control(offsetof(AttentionArgs, flags)), 1);
  static_assert(kQueryDescaleByKvHead == 1 << 1);
  a.s_cselect_b32(query_head, kv_head, head);
  for (int i = 0; i < 3; ++i) {
    const SReg address = addresses.sub(2 * i, 2);
    a.s_add_u32(number[0], s.kernarg[0], static_cast<int>(kNumber) + 4 * i);
    a.s_addc_u32(number[1], s.kernarg[1], 0);
    a.s_cmp_lg_u64(address, 0);
    a.s_cselect_b32(address[0], address[0], number[0]);
    a.s_cselect_b32(address[1], address[1], number[1]);
    EmitAddProduct(a, address, batch, strides[2 * i]);
    EmitAddProduct(a, address, i == 0 ? query_head : kv_head,
                   strides[2 * i + 1]);
  }
  for (int i = 0; i < 3; ++i) {
    a.s_load_dword(s.next_descale[i], addresses.sub(2 * i, 2), 0);
  }
  a.Bind(numbers);
}

}  // namespace

void EmitEntry(KernelState& s) {
  Assembler& a = s.a;
  a.Section("Entry: arguments, wave number");
  a.s_load_dwordx8(s.shape, s.kernarg,
                   static_cast<int>(KernelState::kShapeOffset));
  a.s_load_dwordx8(s.control, s.kernarg,
                   static_cast<int>(KernelState::kControlOffset));
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
  EmitReciprocal(a, s.columns_reciprocal,
                 s.Control(offsetof(AttentionArgs, columns)));
  EmitReciprocal(a, s.heads_reciprocal,
                 s.Control(offsetof(AttentionArgs, heads_q)));
  a.s_sub_i32(s.causal_offset, SeqlenKv(s), SeqlenQ(s));
  a.Comment("bytes of a key tile");
  a.s_lshl_b32(s.key_step, s.Shape(offsetof(AttentionArgs, key_seq_stride)), 6);
  a.Comment("bytes of a value tile");
  a.s_lshl_b32(s.value_step, s.Shape(offsetof(AttentionArgs, value_seq_stride)),
               6);
  static_assert(kKeyTile == 1 << 6);
  a.s_mov_b32(s.item, a.workgroup_id_x());
  a.s_mov_b32(s.round, 0);
  a.s_mov_b32(s.first_stage, 0);
}

void EmitNextNumber(KernelState& s) {
  Assembler& a = s.a;
  const SReg group = a.workgroup_id_x();
  const SReg groups = s.Control(offsetof(AttentionArgs, groups));
  const SReg items = s.Control(offsetof(AttentionArgs, items));
  ScopedSReg place = a.sgprs().Scoped("place");
  ScopedSReg t = a.sgprs().Scoped("place_in_eight");
  a.Comment("odd rounds go through the groups backwards, in eights");
  a.s_add_u32(s.round, s.round, 1);
  a.s_sub_u32(place, groups, 8);
  a.s_and_b32(t, group, -8);
  a.s_sub_u32(place, place, t);
  a.s_and_b32(t, group, 7);
  a.s_add_u32(place, place, t);
  a.s_bitcmp1_b32(s.round, 0);
  a.s_cselect_b32(place, place, group);
  a.s_mul_i32(t, s.round, groups);
  a.s_add_u32(s.item, t, place);
  a.Comment("no further round");
  a.s_cmp_ge_u32(t, items);
  a.s_cselect_b32(s.item, items, s.item);
}

void EmitPrepareItem(KernelState& s) {
  Assembler& a = s.a;
  const Label none = a.NewLabel("no_further_item");
  const Label prepared = a.NewLabel("item_prepared");
  a.Section("Prepare the item that comes next");
  a.s_cmp_ge_u32(s.item, s.Control(offsetof(AttentionArgs, items)));
  a.s_cbranch_scc1(none);

  ScopedSReg batch = a.sgprs().Scoped("batch");
  ScopedSReg head = a.sgprs().Scoped("head");
  ScopedSReg kv_head = a.sgprs().Scoped("kv_head");
  a.Comment("item = (query_tiles - 1 - tile) * columns + batch * heads + head");
  EmitDivide(a, s.next_tile, kv_head, s.item,
             s.Control(offsetof(AttentionArgs, columns)), s.columns_reciprocal);
  a.s_sub_u32(s.next_tile, s.Shape(offsetof(AttentionArgs, query_tiles)),
              s.next_tile);
  a.s_sub_u32(s.next_tile, s.next_tile, 1);
  EmitDivide(a, batch, head, kv_head,
             s.Control(offsetof(AttentionArgs, heads_q)), s.heads_reciprocal);
  a.Comment("KV head = query head / (heads_q / heads_kv)");
  const SReg multiplier = s.Shape(offsetof(AttentionArgs, kv_head_multiplier));
  a.s_mul_hi_u32(kv_head, head, multiplier);
  a.s_cmp_eq_u32(multiplier, 0);
  a.s_cselect_b32(kv_head, head, kv_head);

  {
    ScopedSReg query = a.sgprs().Scoped("query_address", 2);
    EmitAddresses(s, query, batch, head, kv_head);
    ScopedSReg row0 = a.sgprs().Scoped("next_row0");
    ScopedSReg valid_rows = a.sgprs().Scoped("next_valid_rows");
    EmitRowsOfWave(s, row0, valid_rows, s.next_tile);
    EmitQueryLoad(s, query, row0, valid_rows);
  }
  EmitDescales(s, batch, head, kv_head);

  a.Comment("keys and tiles of the group: what its last row sees");
  {
    ScopedSReg row = a.sgprs().Scoped("last_row");
    a.s_lshl_b32(row, s.next_tile, 8);
    a.s_add_u32(row, row, kQueryTile - 1);
    a.s_sub_u32(s.next_keys, SeqlenQ(s), 1);
    a.s_min_i32(row, row, s.next_keys);
    EmitVisibleKeys(s, s.next_keys, row, 0);
    a.s_add_u32(s.next_tiles, s.next_keys, kKeyTile - 1);
    a.s_lshr_b32(s.next_tiles, s.next_tiles, 6);
    a.s_max_u32(s.next_tiles, s.next_tiles, kLeastTiles);
  }
  a.s_branch(prepared);

  a.Bind(none);
  a.Comment("the first meeting counts on loads of Q behind those of tiles");
  a.WaitVmcnt(0);
  a.Comment("the streams of loads go on with nothing");
  a.s_mov_b32(s.next_tile, -1);
  a.s_mov_b32(s.next_keys, 0);
  a.s_mov_b32(s.next_tiles, kEndless);
  a.Bind(prepared);
}

void EmitTakeItem(KernelState& s) {
  Assembler& a = s.a;
  ScopedSReg keys = a.sgprs().Scoped("keys");
  a.Section("Take the prepared item: bounds");
  a.s_mov_b64(s.output, s.next_output);
  a.s_mov_b64(s.lse, s.next_lse);
  a.s_mov_b32(s.meetings_left, s.next_tiles);
  a.s_mov_b32(s.key_tile, 0);
  EmitRowsOfWave(s, s.row0, s.valid_rows, s.next_tile);

  a.Comment("key tiles of the wave: what its last row sees");
  EmitVisibleKeys(s, keys, s.row0, Geometry::kQueriesPerWave - 1);
  a.s_min_i32(keys, keys, s.next_keys);
  a.s_add_i32(keys, keys, kKeyTile - 1);
  a.s_lshr_b32(s.wave_tiles, keys, 6);
  a.s_cmp_eq_u32(s.valid_rows, 0);
  a.s_cselect_b32(s.wave_tiles, 0, s.wave_tiles);

  a.Comment("unmasked: what its first row sees in full, without the last tile");
  EmitVisibleKeys(s, s.full_keys, s.row0, 0);
  a.s_lshr_b32(s.plain_tiles, s.full_keys, 6);
  a.s_sub_i32(keys, s.wave_tiles, 1);
  a.s_min_i32(s.plain_tiles, s.plain_tiles, keys);

  a.Comment("last visible key of the lane's row; seqlen_kv - 1");
  a.s_sub_i32(keys, SeqlenKv(s), 1);
  if (s.g.causal) {
    ScopedSReg diagonal = a.sgprs().Scoped("diagonal");
    a.s_add_i32(diagonal, s.row0, s.causal_offset);
    a.v_add_u32(s.key_limit, diagonal, s.query_lane);
    a.v_min_i32(s.key_limit, keys, s.key_limit);
  } else {
    a.v_mov_b32(s.key_limit, keys);
  }
  a.Comment("register r of a score block holds key 8 (r/4) + 4 half + r%4");
  ScopedVReg shift = a.vgprs().Scoped("half_keys");
  a.v_lshlrev_b32(shift, 2, s.half);
  a.v_sub_u32(s.key_limit, s.key_limit, shift);
}

void EmitRowDescriptor(KernelState& s, SReg descriptor, SReg base,
                       SReg row_stride, int row_bytes, SReg row0,
                       SReg valid_rows) {
  Assembler& a = s.a;
  const SReg records = descriptor[2];
  a.s_mov_b64(descriptor.sub(0, 2), base);
  EmitAddProduct(a, descriptor.sub(0, 2), row0, row_stride);
  a.s_and_b32(descriptor[1], descriptor[1], 0xffff);
  a.s_sub_i32(records, valid_rows, 1);
  a.s_mul_i32(records, records, row_stride);
  a.s_add_u32(records, records, row_bytes);
  a.s_cmp_gt_i32(valid_rows, 0);
  a.s_cselect_b32(records, records, 0);
  a.s_mov_b32(descriptor[3], kBufferFormat);
}

}  // namespace zyfa::gen::fp8

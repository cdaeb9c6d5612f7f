#include "zyfa/gen/attention/query_tile.h"

namespace zyfa::gen {
namespace {

constexpr uint32_t kMinusInfinity = 0xff800000;

// keys = number of keys that row `row` + `ahead` sees, 0 .. seqlen_kv.
void EmitVisibleKeys(KernelState& s, SReg keys, SReg row, int ahead) {
  Assembler& a = s.a;
  const SReg seqlen_kv = s.Arg(offsetof(AttentionArgs, seqlen_kv));
  if (!s.g.causal) {
    a.s_mov_b32(keys, seqlen_kv);
    return;
  }
  a.s_add_i32(keys, row, s.causal_offset);
  a.s_add_i32(keys, keys, ahead + 1);
  a.s_max_i32(keys, keys, 0);
  a.s_min_i32(keys, keys, seqlen_kv);
}

void EmitTilesOf(Assembler& a, SReg tiles, SReg keys) {
  a.s_add_i32(tiles, keys, kKeyTile - 1);
  a.s_lshr_b32(tiles, tiles, 6);
}

}  // namespace

void EmitTileBounds(KernelState& s) {
  Assembler& a = s.a;
  const SReg seqlen_q = s.Arg(offsetof(AttentionArgs, seqlen_q));
  ScopedSReg row = a.sgprs().Scoped("row");
  ScopedSReg keys = a.sgprs().Scoped("keys");

  a.Section("Query tile: bounds");
  a.s_lshl_b32(row, s.tile, 8);
  static_assert(kQueryTile == 1 << 8);
  a.s_lshl_b32(s.row0, s.wave, 5);
  a.s_add_u32(s.row0, s.row0, row);
  a.s_sub_i32(s.valid_rows, seqlen_q, s.row0);
  a.s_min_i32(s.valid_rows, s.valid_rows, Geometry::kQueriesPerWave);
  a.s_max_i32(s.valid_rows, s.valid_rows, 0);

  a.Comment("key tiles of the group: what its last row sees");
  a.s_add_u32(row, row, kQueryTile - 1);
  a.s_sub_u32(keys, seqlen_q, 1);
  a.s_min_i32(row, row, keys);
  EmitVisibleKeys(s, keys, row, 0);
  EmitTilesOf(a, s.group_tiles, keys);

  a.Comment("key tiles of the wave: what its last row sees");
  EmitVisibleKeys(s, keys, s.row0, Geometry::kQueriesPerWave - 1);
  EmitTilesOf(a, s.wave_tiles, keys);
  a.s_min_i32(s.wave_tiles, s.wave_tiles, s.group_tiles);
  a.s_cmp_eq_u32(s.valid_rows, 0);
  a.s_cselect_b32(s.wave_tiles, 0, s.wave_tiles);

  a.Comment("unmasked: what its first row sees in full, without the last tile");
  EmitVisibleKeys(s, keys, s.row0, 0);
  a.s_lshr_b32(s.plain_tiles, keys, 6);
  a.s_sub_i32(keys, s.wave_tiles, 1);
  a.s_min_i32(s.plain_tiles, s.plain_tiles, keys);
  a.s_mov_b32(s.careful, 0);
  a.s_mov_b32(s.moved, 0);
}

void EmitRowDescriptor(KernelState& s, size_t base_offset, SReg seq_stride,
                       int row_bytes) {
  Assembler& a = s.a;
  const SReg base = s.Arg64(base_offset);
  const SReg records = s.row_desc[2];
  a.s_mov_b32(s.row_desc[0], base[0]);
  a.s_mov_b32(s.row_desc[1], base[1]);
  EmitAddProduct(a, s.row_desc.sub(0, 2), s.row0, seq_stride);
  a.s_and_b32(s.row_desc[1], s.row_desc[1], 0xffff);
  a.s_sub_i32(records, s.valid_rows, 1);
  a.s_mul_i32(records, records, seq_stride);
  a.s_add_u32(records, records, row_bytes);
  a.s_cmp_gt_i32(s.valid_rows, 0);
  a.s_cselect_b32(records, records, 0);
  a.s_mov_b32(s.row_desc[3], kBufferFormat);
}

namespace {

// 16-byte pieces of the B operand straight into their registers.
void EmitQueryLoadDirect(KernelState& s, SReg stride) {
  Assembler& a = s.a;
  ScopedVReg offset = a.vgprs().Scoped("query_offset");
  a.Comment("row lane % 32, channels 16 * step + 8 * half");
  a.v_mul_lo_u32(offset, s.query_lane, stride);
  a.v_lshl_add_u32(offset, s.half, 4, offset);
  for (int step = 0; step < s.g.qk_steps; ++step) {
    a.buffer_load_dwordx4(s.query.sub(4 * step, 4), offset, s.row_desc, 0,
                          32 * step);
  }
}

// Four rows of 256 bytes an instruction into the wave's part of LDS, with K's
// swizzle: chunk c of row r stands at place c ^ (r % 16).
void EmitQueryLoadThroughLds(KernelState& s, SReg stride) {
  Assembler& a = s.a;
  constexpr int kRows = 4;      // of an instruction
  constexpr int kPatterns = 4;  // of the swizzle, which repeats after 16 rows
  constexpr int kLoads = Geometry::kQueriesPerWave / kRows;
  ScopedVReg offsets = a.vgprs().Scoped("query_offsets", kPatterns, 1);
  ScopedSReg place = a.sgprs().Scoped("query_place");
  ScopedSReg step = a.sgprs().Scoped("row_step");
  {
    ScopedVReg lane = a.vgprs().Scoped("lane");
    ScopedVReg row = a.vgprs().Scoped("row");
    ScopedVReg chunk = a.vgprs().Scoped("chunk");
    ScopedVReg row_offset = a.vgprs().Scoped("row_offset");
    a.Comment("row lane / 16 of each four, place lane % 16");
    a.v_lshl_or_b32(lane, s.half, 5, s.query_lane);
    a.v_lshrrev_b32(row, 4, lane);
    a.v_and_b32(lane, 15, lane);
    a.v_mul_lo_u32(row_offset, row, stride);
    a.s_lshl_b32(step, stride, 2);
    for (int i = 0; i < kPatterns; ++i) {
      if (i > 0) {
        a.v_add_u32(row, kRows, row);
        a.v_add_u32(row_offset, step, row_offset);
      }
      a.v_xor_b32(chunk, row, lane);
      a.v_lshl_add_u32(offsets[i], chunk, 4, row_offset);
    }
  }
  a.s_lshl_b32(step, stride, 4);
  a.s_mul_i32(place, s.wave, s.g.own_bytes);
  for (int i = 0; i < kLoads; ++i) {
    if (i >= kPatterns) {
      a.v_add_u32(offsets[i % kPatterns], step, offsets[i % kPatterns]);
    }
    a.s_add_u32(m0, place, s.g.own_lds + 1024 * i);
    a.buffer_load_dwordx4_lds(offsets[i % kPatterns], s.row_desc, 0);
  }
}

// The B operand from the wave's rows in LDS: K's A operand has the same layout
// and swizzle.
void EmitQueryRead(KernelState& s) {
  Assembler& a = s.a;
  ScopedSReg distance = a.sgprs().Scoped("query_distance");
  const VReg address = s.fragments.sub(0, s.g.qk_steps);
  a.s_mul_i32(distance, s.wave, s.g.own_bytes);
  a.s_add_u32(distance, distance, s.g.own_lds - s.g.key_lds);
  for (int step = 0; step < s.g.qk_steps; ++step) {
    a.v_add_u32(address[step], distance, s.key_read[step]);
    a.ds_read_b128(s.query.sub(4 * step, 4), address[step], 0);
  }
}

}  // namespace

void EmitQueryLoad(KernelState& s) {
  Assembler& a = s.a;
  const SReg stride = s.Arg(offsetof(AttentionArgs, query_seq_stride));
  a.Section("Query tile: load Q, 32 rows a wave");
  EmitRowDescriptor(s, offsetof(AttentionArgs, query), stride,
                    s.g.key_row_bytes);
  if (s.g.query_through_lds) {
    EmitQueryLoadThroughLds(s, stride);
  } else {
    EmitQueryLoadDirect(s, stride);
  }
}

void EmitQueryArrival(KernelState& s) {
  if (s.g.query_through_lds) EmitQueryRead(s);
  for (int i = 0; i < s.query.count(); ++i) {
    s.a.v_xor_b32(s.query[i], s.Arg(offsetof(AttentionArgs, negate_query)),
                  s.query[i]);
  }
}

void EmitTileStart(KernelState& s) {
  Assembler& a = s.a;
  const SReg seqlen_kv = s.Arg(offsetof(AttentionArgs, seqlen_kv));
  a.Section("Query tile: state before the first key");
  ScopedSReg last = a.sgprs().Scoped("last_key");
  a.Comment("seqlen_kv - 1");
  a.s_sub_i32(last, seqlen_kv, 1);
  if (s.g.causal) {
    a.Comment("last visible key of the lane's row");
    ScopedSReg diagonal = a.sgprs().Scoped("diagonal");
    a.s_add_i32(diagonal, s.row0, s.causal_offset);
    a.v_add_u32(s.key_limit, diagonal, s.query_lane);
    a.v_min_i32(s.key_limit, last, s.key_limit);
  } else {
    a.v_mov_b32(s.key_limit, last);
  }
  {
    a.Comment("register r of a score block holds key 8 (r/4) + 4 half + r%4");
    ScopedVReg shift = a.vgprs().Scoped("half_keys");
    a.v_lshlrev_b32(shift, 2, s.half);
    a.v_sub_u32(s.key_limit, s.key_limit, shift);
  }
  a.v_mov_b32(s.row_max, Bits(kMinusInfinity));
  a.v_mov_b32(s.threshold, Bits(kMinusInfinity));
  a.v_mov_b32(s.scaled_max, 0);
  a.v_mov_b32(s.row_sum, 0);
  for (int i = 0; i < s.output.count(); ++i) a.v_mov_b32(s.output[i], 0);
}

}  // namespace zyfa::gen

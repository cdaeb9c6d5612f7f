#include "zyfa/gen/fp8/tile_loader.h"

#include <string>

namespace zyfa::gen::fp8 {
namespace {

constexpr int kTileBytes = Geometry::kWidePartBytes;
static_assert(kTileBytes == Geometry::kValueTileBytes);

// What one wave loads of a tile of 8 KiB: rows 8 * wave + lane / 8, place
// lane % 8 of 16 bytes.
void EmitRowOfEight(KernelState& s, VReg row, VReg place) {
  Assembler& a = s.a;
  ScopedSReg first = a.sgprs().Scoped("first_row");
  a.s_lshl_b32(first, s.wave, 3);
  a.v_lshl_or_b32(place, s.half, 5, s.query_lane);
  a.v_lshrrev_b32(row, 3, place);
  a.v_add_u32(row, first, row);
  a.v_and_b32(place, 7, place);
}

// The part of V's swizzle of row `row`, in chunks of 16 bytes: 2 * (r / 2 % 2)
// + 4 * (r / 8 % 2).
void EmitValueSwizzle(Assembler& a, VReg swizzle, VReg row) {
  ScopedVReg high = a.vgprs().Scoped("swizzle_high");
  a.v_and_b32(swizzle, 2, row);
  a.v_bfe_u32(high, row, 3, 1);
  a.v_lshl_or_b32(swizzle, high, 2, swizzle);
}

// Where a stream that is through with its item goes on: address, or where it
// is.
void EmitNextAddress(KernelState& s, const TileCursor& t, SReg desc,
                     SReg address, const char* name) {
  Assembler& a = s.a;
  a.Comment(std::string(name) + ": on to the next item after the last tile");
  a.s_cmp_eq_u32(t.tiles, 0);
  a.s_cselect_b32(desc[0], address[0], desc[0]);
  a.s_cselect_b32(desc[1], address[1], desc[1]);
}

// The same of its counts, behind that.
void EmitNextCounts(KernelState& s, const TileCursor& t) {
  Assembler& a = s.a;
  a.s_cselect_b32(t.left, s.next_keys, t.left);
  a.s_cselect_b32(t.tiles, s.next_tiles, t.tiles);
  a.s_sub_u32(t.tiles, t.tiles, 1);
}

// The rows of the stream's next tile that are needed.
void EmitRecords(KernelState& s, const TileCursor& t, SReg desc,
                 SReg seq_stride, int row_bytes) {
  Assembler& a = s.a;
  ScopedSReg records = a.sgprs().Scoped("records");
  a.s_min_i32(records, t.left, kKeyTile);
  a.s_sub_i32(records, records, 1);
  a.s_mul_i32(records, records, seq_stride);
  a.s_add_u32(records, records, row_bytes);
  a.s_cmp_gt_i32(t.left, 0);
  a.s_cselect_b32(desc[2], records, 0);
}

void EmitAdvance(KernelState& s, SReg desc, SReg step) {
  Assembler& a = s.a;
  a.s_add_u32(desc[0], desc[0], step);
  a.s_addc_u32(desc[1], desc[1], 0);
}

void EmitNextSlot(KernelState& s, SReg slot) {
  s.a.s_add_u32(slot, slot, kTileBytes);
  s.a.s_and_b32(slot, slot, Geometry::kStages * kTileBytes - 1);
}

// K's narrow part: 4 bytes a lane, so that all waves have an equal share.
void EmitNarrowTileLoad(KernelState& s) {
  Assembler& a = s.a;
  ScopedSReg slot = a.sgprs().Scoped("narrow_slot");
  a.s_mov_b32(s.narrow_desc[2], s.key.desc[2]);
  a.s_lshr_b32(slot, s.key_slot, 1);
  static_assert(Geometry::kNarrowPartBytes == kTileBytes / 2);
  for (int i = 0; i < s.narrow_load.count(); ++i) {
    a.s_add_u32(m0, slot, s.g.narrow_lds + 256 * i);
    a.buffer_load_dword_lds(s.narrow_load[i], s.narrow_desc, 0);
  }
  EmitAdvance(s, s.narrow_desc, s.key_step);
}

// Eight keys' multipliers. Further lanes load zeros from outside of the buffer:
// loads to LDS write all of the wave's 256 bytes.
void EmitMultiplierLoad(KernelState& s) {
  Assembler& a = s.a;
  const SReg desc = s.multiplier_desc;
  ScopedSReg left = a.sgprs().Scoped("keys_with_multipliers");
  a.s_min_i32(left, s.key.left, kKeyTile);
  a.s_max_i32(left, left, 0);
  a.s_lshl_b32(desc[2], left, 2);
  a.s_lshr_b32(left, s.key_slot, 2);
  a.s_add_u32(m0, left, s.g.multiplier_lds);
  static_assert(Geometry::kMultiplierBytes == kTileBytes / 4);
  a.buffer_load_dword_lds(s.multiplier_load, desc, 0);
  a.s_mov_b32(left, 4 * kKeyTile);
  EmitAdvance(s, desc, left);
}

void EmitValueTileLoad(KernelState& s) {
  Assembler& a = s.a;
  EmitNextAddress(s, s.value, s.value.desc, s.next_value, "V");
  EmitNextCounts(s, s.value);
  EmitRecords(s, s.value, s.value.desc,
              s.Shape(offsetof(AttentionArgs, value_seq_stride)),
              Geometry::kHeadDimV);
  a.s_mov_b32(m0, s.value_slot);
  a.buffer_load_dwordx4_lds(s.value_load, s.value.desc, 0);
  EmitAdvance(s, s.value.desc, s.value_step);
  a.s_sub_i32(s.value.left, s.value.left, kKeyTile);
  EmitNextSlot(s, s.value_slot);
}

}  // namespace

void EmitKeyTileLoad(KernelState& s) {
  Assembler& a = s.a;
  if (s.g.narrow_part) {
    EmitNextAddress(s, s.key, s.narrow_desc, s.next_key, "K's narrow part");
  }
  if (s.g.multiply) {
    EmitNextAddress(s, s.key, s.multiplier_desc, s.next_multiplier,
                    "multipliers");
  }
  EmitNextAddress(s, s.key, s.key.desc, s.next_key, "K");
  EmitNextCounts(s, s.key);
  EmitRecords(s, s.key, s.key.desc,
              s.Shape(offsetof(AttentionArgs, key_seq_stride)), s.g.row_bytes);
  a.s_add_u32(m0, s.key_slot, s.g.key_lds);
  a.buffer_load_dwordx4_lds(s.key_load, s.key.desc, 0);
  if (s.g.narrow_part) EmitNarrowTileLoad(s);
  if (s.g.multiply) EmitMultiplierLoad(s);
  EmitAdvance(s, s.key.desc, s.key_step);
  a.s_sub_i32(s.key.left, s.key.left, kKeyTile);
  EmitNextSlot(s, s.key_slot);
}

int TileLoads(const Geometry& g) {
  return (g.narrow_part ? 4 : 2) + (g.multiply ? 1 : 0);
}

void EmitLoadPlaces(KernelState& s, VReg rows) {
  Assembler& a = s.a;
  a.Section("Lane constants: places in the rows of the tile loads");
  ScopedVReg chunk = a.vgprs().Scoped("chunk");
  ScopedVReg swizzle = a.vgprs().Scoped("swizzle");
  const VReg row = rows[0];
  EmitRowOfEight(s, row, chunk);
  EmitValueSwizzle(a, swizzle, row);
  a.v_xor_b32(swizzle, swizzle, chunk);
  a.v_lshlrev_b32(s.value_load, 4, swizzle);
  a.v_bfe_u32(swizzle, row, 1, 3);
  a.v_xor_b32(swizzle, swizzle, chunk);
  a.v_lshlrev_b32(s.key_load, 4, swizzle);
  if (s.g.multiply) {
    a.Comment("multipliers: key 8 * wave + lane, lanes 0..7");
    ScopedSReg first = a.sgprs().Scoped("first_key");
    a.s_lshl_b32(first, s.wave, 5);
    a.v_lshl_or_b32(swizzle, s.half, 5, s.query_lane);
    a.v_cmp_gt_u32(vcc, 8, swizzle);
    a.v_lshlrev_b32(swizzle, 2, swizzle);
    a.v_add_u32(swizzle, first, swizzle);
    a.v_mov_b32(s.multiplier_load, Bits(0x7fffffff & -4));
    a.v_cndmask_b32(s.multiplier_load, s.multiplier_load, swizzle, vcc);
  }
  if (!s.g.narrow_part) return;
  a.Comment("narrow part: rows 8 * wave + lane / 16, and 4 further;");
  a.Comment("place lane % 16 / 4, dword lane % 4 of it");
  const VReg narrow = rows[1];
  ScopedSReg t = a.sgprs().Scoped("row_part");
  a.v_lshl_or_b32(chunk, s.half, 5, s.query_lane);
  a.v_lshrrev_b32(narrow, 4, chunk);
  a.s_lshl_b32(t, s.wave, 3);
  a.v_add_u32(narrow, t, narrow);
  a.v_bfe_u32(swizzle, chunk, 2, 2);
  a.v_and_b32(chunk, 3, chunk);
  a.s_lshl_b32(t, s.wave, 1);
  a.s_and_b32(t, t, 3);
  a.v_xor_b32(swizzle, t, swizzle);
  a.v_lshlrev_b32(chunk, 2, chunk);
  a.v_lshl_add_u32(chunk, swizzle, 4, chunk);
  a.v_add_u32(s.narrow_load[0], Geometry::kWideRow, chunk);
  a.v_xor_b32(s.narrow_load[1], 16, s.narrow_load[0]);
}

void EmitLoadRows(KernelState& s, VReg rows) {
  Assembler& a = s.a;
  a.Section("Lane constants: memory offsets of the tile loads");
  const SReg key_stride = s.Shape(offsetof(AttentionArgs, key_seq_stride));
  const SReg value_stride = s.Shape(offsetof(AttentionArgs, value_seq_stride));
  ScopedVReg offset = a.vgprs().Scoped("row_offset");
  const auto add_rows = [&](VReg load, VReg row, SReg stride) {
    a.v_mul_lo_u32(offset, row, stride);
    a.v_add_u32(load, offset, load);
  };
  add_rows(s.value_load, rows[0], value_stride);
  add_rows(s.key_load, rows[0], key_stride);
  if (!s.g.narrow_part) return;
  add_rows(s.narrow_load[0], rows[1], key_stride);
  ScopedSReg further = a.sgprs().Scoped("four_rows");
  a.s_lshl_b32(further, key_stride, 2);
  a.v_add_u32(offset, further, offset);
  a.v_add_u32(s.narrow_load[1], offset, s.narrow_load[1]);
}

void EmitReadAddresses(KernelState& s) {
  Assembler& a = s.a;
  a.Section("Lane constants: LDS addresses of the operands");
  // No operand is on its way.
  const VReg t = s.fragments[8], base = s.fragments[9], row = s.fragments[10];
  {
    // K: row lane % 32, channels 64 * step + 32 * half and on, that is chunks
    // 4 * step + 2 * half and the one behind it. Which channels of a step a
    // lane has does not matter as long as Q's lanes have the same.
    a.v_bfe_u32(t, s.query_lane, 1, 3);
    a.v_lshlrev_b32(base, 1, s.half);
    a.v_xor_b32(t, base, t);
    a.v_lshlrev_b32(base, 7, s.query_lane);
    static_assert(Geometry::kWideRow == 1 << 7);
    a.v_lshl_add_u32(base, t, 4, base);
    for (int i = 0; i < s.key_read.count(); ++i) {
      const int chunk = i / 2 * 4 + i % 2;
      a.v_xor_b32(s.key_read[i], 16 * chunk, base);
      a.v_add_u32(s.key_read[i], s.g.key_lds, s.key_read[i]);
    }
  }
  if (s.g.multiply) {
    a.Comment("multipliers of keys 8 q + 4 half .. + 3");
    a.v_lshlrev_b32(s.multiplier_read, 4, s.half);
    a.v_add_u32(s.multiplier_read, s.g.multiplier_lds, s.multiplier_read);
  }
  if (s.g.narrow_part) {
    a.v_bfe_u32(t, s.query_lane, 2, 2);
    a.v_lshlrev_b32(base, 1, s.half);
    a.v_xor_b32(t, base, t);
    a.v_lshlrev_b32(base, 6, s.query_lane);
    static_assert(Geometry::kNarrowRow == 1 << 6);
    a.v_lshl_add_u32(base, t, 4, base);
    for (int i = 0; i < s.narrow_read.count(); ++i) {
      a.v_xor_b32(s.narrow_read[i], 16 * i, base);
      a.v_add_u32(s.narrow_read[i], s.g.narrow_lds, s.narrow_read[i]);
    }
  }
  {
    // V: read q of an operand has bytes 8 q .. 8 q + 7 of each lane. With
    // p = lane % 16 / 2, lane l gives the address of 8 columns of row
    // 16 q + 8 (p / 4) + 4 half + p % 4, from column 32 block +
    // 16 (lane / 16 % 2) + 8 (lane % 2) on (cdna4-isa 1.4).
    a.Comment("row of the lane");
    a.v_bfe_u32(row, s.query_lane, 1, 2);
    a.v_lshl_or_b32(row, s.half, 2, row);
    a.v_bfe_u32(t, s.query_lane, 3, 1);
    a.v_lshl_or_b32(row, t, 3, row);
    a.v_lshlrev_b32(base, 7, row);
    static_assert(Geometry::kHeadDimV == 1 << 7);
    EmitValueSwizzle(a, t, row);
    a.v_lshl_add_u32(base, t, 4, base);
    a.Comment("column of the lane in a block");
    a.v_bfe_u32(t, s.query_lane, 4, 1);
    a.v_lshl_or_b32(base, t, 4, base);
    a.v_and_b32(t, 1, s.query_lane);
    a.v_lshl_or_b32(base, t, 3, base);
    for (int block = 0; block < Geometry::kValueBlocks; ++block) {
      a.v_xor_b32(s.value_read[block], 32 * block, base);
    }
  }
}

void EmitLoaderStart(KernelState& s) {
  Assembler& a = s.a;
  for (const TileCursor& t : {s.key, s.value}) {
    a.s_mov_b32(t.tiles, 0);
    a.s_mov_b32(t.left, 0);
  }
  for (const SReg& desc :
       {s.key.desc, s.value.desc, s.narrow_desc, s.multiplier_desc}) {
    if (desc.count() != 4) continue;
    a.s_mov_b32(desc[0], 0);
    a.s_mov_b32(desc[1], 0);
    a.s_mov_b32(desc[3], kBufferFormat);
  }
  a.s_lshl_b32(s.key_slot, s.wave, 10);
  a.s_mov_b32(s.value_slot, s.key_slot);
  a.Comment("bytes of a key tile and of a value tile");
  a.s_lshl_b32(s.key_step, s.Shape(offsetof(AttentionArgs, key_seq_stride)), 6);
  a.s_lshl_b32(s.value_step, s.Shape(offsetof(AttentionArgs, value_seq_stride)),
               6);
  static_assert(kKeyTile == 1 << 6);
}

void EmitTileLoads(KernelState& s) {
  EmitKeyTileLoad(s);
  EmitValueTileLoad(s);
}

}  // namespace zyfa::gen::fp8

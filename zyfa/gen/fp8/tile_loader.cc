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

// A stream that is through with its item goes on to the next one.
void EmitNextItem(KernelState& s, const TileCursor& t, SReg address,
                  const char* name) {
  Assembler& a = s.a;
  a.Comment(std::string(name) + ": on to the next item after the last tile");
  a.s_cmp_eq_u32(t.tiles, 0);
  a.s_cselect_b32(t.desc[0], address[0], t.desc[0]);
  a.s_cselect_b32(t.desc[1], address[1], t.desc[1]);
  a.s_cselect_b32(t.left, s.next_keys, t.left);
  a.s_cselect_b32(t.tiles, s.next_tiles, t.tiles);
  a.s_sub_u32(t.tiles, t.tiles, 1);
}

// The rows of the stream's next tile that are needed.
void EmitRecords(KernelState& s, const TileCursor& t, SReg seq_stride,
                 int row_bytes) {
  Assembler& a = s.a;
  ScopedSReg records = a.sgprs().Scoped("records");
  a.s_min_i32(records, t.left, kKeyTile);
  a.s_sub_i32(records, records, 1);
  a.s_mul_i32(records, records, seq_stride);
  a.s_add_u32(records, records, row_bytes);
  a.s_cmp_gt_i32(t.left, 0);
  a.s_cselect_b32(t.desc[2], records, 0);
}

void EmitAdvance(KernelState& s, const TileCursor& t, SReg step, SReg slot,
                 int tile_bytes) {
  Assembler& a = s.a;
  a.s_add_u32(t.desc[0], t.desc[0], step);
  a.s_addc_u32(t.desc[1], t.desc[1], 0);
  a.s_sub_i32(t.left, t.left, kKeyTile);
  a.s_add_u32(slot, slot, tile_bytes);
  a.s_and_b32(slot, slot, Geometry::kStages * tile_bytes - 1);
}

// K's narrow part: 4 bytes a lane, so that all waves have an equal share.
void EmitNarrowTileLoad(KernelState& s) {
  Assembler& a = s.a;
  EmitNextItem(s, s.narrow, s.next_key, "K's narrow part");
  EmitRecords(s, s.narrow, s.Shape(offsetof(AttentionArgs, key_seq_stride)),
              s.g.row_bytes);
  for (int i = 0; i < s.narrow_load.count(); ++i) {
    a.s_add_u32(m0, s.narrow_slot, s.g.narrow_lds + 256 * i);
    a.buffer_load_dword_lds(s.narrow_load[i], s.narrow.desc, 0);
  }
  EmitAdvance(s, s.narrow, s.key_step, s.narrow_slot,
              Geometry::kNarrowPartBytes);
}

void EmitValueTileLoad(KernelState& s) {
  Assembler& a = s.a;
  EmitNextItem(s, s.value, s.next_value, "V");
  EmitRecords(s, s.value, s.Shape(offsetof(AttentionArgs, value_seq_stride)),
              Geometry::kHeadDimV);
  a.s_mov_b32(m0, s.value_slot);
  a.buffer_load_dwordx4_lds(s.value_load, s.value.desc, 0);
  EmitAdvance(s, s.value, s.value_step, s.value_slot, kTileBytes);
}

}  // namespace

void EmitKeyTileLoad(KernelState& s) {
  Assembler& a = s.a;
  EmitNextItem(s, s.key, s.next_key, "K");
  EmitRecords(s, s.key, s.Shape(offsetof(AttentionArgs, key_seq_stride)),
              s.g.row_bytes);
  a.s_add_u32(m0, s.key_slot, s.g.key_lds);
  a.buffer_load_dwordx4_lds(s.key_load, s.key.desc, 0);
  EmitAdvance(s, s.key, s.key_step, s.key_slot, kTileBytes);
  if (s.g.narrow_part) EmitNarrowTileLoad(s);
}

int TileLoads(const Geometry& g) { return g.narrow_part ? 4 : 2; }

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
  ScopedVReg t = a.vgprs().Scoped("address_part");
  ScopedVReg base = a.vgprs().Scoped("address_base");
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
    ScopedVReg row = a.vgprs().Scoped("row");
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
  for (const TileCursor& t : {s.key, s.value, s.narrow}) {
    if (t.desc.count() != 4) continue;
    a.s_mov_b32(t.tiles, 0);
    a.s_mov_b32(t.left, 0);
    a.s_mov_b32(t.desc[0], 0);
    a.s_mov_b32(t.desc[1], 0);
    a.s_mov_b32(t.desc[3], kBufferFormat);
  }
  a.s_lshl_b32(s.key_slot, s.wave, 10);
  a.s_mov_b32(s.value_slot, s.key_slot);
  if (s.g.narrow_part) a.s_lshl_b32(s.narrow_slot, s.wave, 9);
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

#include "zyfa/gen/attention/tile_loader.h"

namespace zyfa::gen {
namespace {

// offset = row * seq_stride + 16 * chunk
void EmitOffset(Assembler& a, VReg offset, VReg row, VReg chunk, SReg stride) {
  a.v_mul_lo_u32(offset, row, stride);
  a.v_lshl_add_u32(offset, chunk, 4, offset);
}

// Row and place in the row of the chunk that this lane loads, for rows of
// 16 chunks: row = 4 * wave + lane / 16 of each 32 rows, place = lane % 16.
void EmitRow16(KernelState& s, VReg row, VReg place) {
  Assembler& a = s.a;
  ScopedSReg row_base = a.sgprs().Scoped("row_base");
  a.s_lshl_b32(row_base, s.wave, 2);
  a.v_lshl_or_b32(place, s.half, 5, s.query_lane);
  a.v_lshrrev_b32(row, 4, place);
  a.v_add_u32(row, row_base, row);
  a.v_and_b32(place, 15, place);
}

void EmitFollowingOffsets(KernelState& s, VReg offsets, size_t stride_offset) {
  Assembler& a = s.a;
  ScopedSReg step = a.sgprs().Scoped("row_step");
  a.s_lshl_b32(step, s.Arg(stride_offset), 5);
  for (int i = 1; i < offsets.count(); ++i) {
    a.v_add_u32(offsets[i], step, offsets[i - 1]);
  }
}

void EmitKeyOffsets128(KernelState& s) {
  Assembler& a = s.a;
  ScopedVReg row = a.vgprs().Scoped("row");
  ScopedVReg chunk = a.vgprs().Scoped("chunk");
  ScopedVReg swizzle = a.vgprs().Scoped("swizzle");
  EmitRow16(s, row, chunk);
  a.v_and_b32(swizzle, 15, row);
  a.v_xor_b32(chunk, swizzle, chunk);
  EmitOffset(a, s.key_load[0], row, chunk,
             s.Arg(offsetof(AttentionArgs, key_seq_stride)));
  EmitFollowingOffsets(s, s.key_load, offsetof(AttentionArgs, key_seq_stride));
}

void EmitKeyOffsets192(KernelState& s) {
  Assembler& a = s.a;
  ScopedVReg number = a.vgprs().Scoped("chunk_number");
  ScopedVReg row = a.vgprs().Scoped("row");
  ScopedVReg chunk = a.vgprs().Scoped("chunk");
  ScopedVReg swizzle = a.vgprs().Scoped("swizzle");
  ScopedSReg base = a.sgprs().Scoped("chunk_base");
  for (int i = 0; i < s.g.key_loads; ++i) {
    a.Comment("chunk number in the tile: 64 * (wave + 8 * load) + lane");
    a.s_lshl_b32(base, s.wave, 6);
    if (i > 0) a.s_add_u32(base, base, 512 * i);
    a.v_lshl_or_b32(number, s.half, 5, s.query_lane);
    a.v_add_u32(number, base, number);
    a.Comment("row = number / 24, exact below 1536");
    a.v_mul_u32_u24(row, 2731, number);
    a.v_lshrrev_b32(row, 16, row);
    a.v_mul_u32_u24(chunk, 24, row);
    a.v_sub_u32(chunk, number, chunk);
    a.v_bfe_u32(swizzle, row, 1, 3);
    a.v_xor_b32(chunk, swizzle, chunk);
    EmitOffset(a, s.key_load[i], row, chunk,
               s.Arg(offsetof(AttentionArgs, key_seq_stride)));
  }
}

void EmitValueOffsets(KernelState& s) {
  Assembler& a = s.a;
  ScopedVReg row = a.vgprs().Scoped("row");
  ScopedVReg chunk = a.vgprs().Scoped("chunk");
  ScopedVReg swizzle = a.vgprs().Scoped("swizzle");
  EmitRow16(s, row, chunk);
  a.v_and_b32(swizzle, 3, row);
  a.v_lshlrev_b32(swizzle, 2, swizzle);
  a.v_xor_b32(chunk, swizzle, chunk);
  EmitOffset(a, s.value_load[0], row, chunk,
             s.Arg(offsetof(AttentionArgs, value_seq_stride)));
  EmitFollowingOffsets(s, s.value_load,
                       offsetof(AttentionArgs, value_seq_stride));
}

// Distance of the two pairs of value stages.
int ValuePairBytes(const KernelState& s) {
  return Geometry::kValueStages / 2 * s.g.value_tile_bytes;
}

struct TileLoad {
  const char* name;
  SReg desc, left, step, seq_stride;
  VReg offsets;
  int row_bytes;
  SReg wave_lds;
  int lds_base;
};

void EmitTileLoad(KernelState& s, const TileLoad& t) {
  Assembler& a = s.a;
  ScopedSReg records = a.sgprs().Scoped("records");
  a.Comment(std::string(t.name) +
            " tile: bytes to the end of its last needed row");
  a.s_min_i32(records, t.left, kKeyTile);
  a.s_sub_i32(records, records, 1);
  a.s_mul_i32(records, records, t.seq_stride);
  a.s_add_u32(records, records, t.row_bytes);
  a.s_cmp_gt_i32(t.left, 0);
  a.s_cselect_b32(t.desc[2], records, 0);
  for (int i = 0; i < t.offsets.count(); ++i) {
    a.s_add_u32(m0, t.wave_lds, t.lds_base + 1024 * kWavesPerGroup * i);
    a.buffer_load_dwordx4_lds(t.offsets[i], t.desc, 0);
  }
  a.s_add_u32(t.desc[0], t.desc[0], t.step);
  a.s_addc_u32(t.desc[1], t.desc[1], 0);
  a.s_sub_i32(t.left, t.left, kKeyTile);
}

}  // namespace

void EmitLoadOffsets(KernelState& s) {
  s.a.Section("Lane constants: memory offsets of the tile loads");
  if (s.g.head_dim_qk == 128) {
    EmitKeyOffsets128(s);
  } else {
    EmitKeyOffsets192(s);
  }
  EmitValueOffsets(s);
}

void EmitReadAddresses(KernelState& s) {
  Assembler& a = s.a;
  a.Section("Lane constants: LDS addresses of the operand fragments");
  {
    // K: row lane % 32, channel chunk 2 * step + half. The swizzle changes only
    // the low bits of the chunk, so one address per step of a stretch serves
    // all stretches, row blocks and stages through the offset field.
    ScopedVReg chunk = a.vgprs().Scoped("chunk");
    if (s.g.head_dim_qk == 128) {
      a.v_and_b32(chunk, 15, s.query_lane);
    } else {
      a.v_bfe_u32(chunk, s.query_lane, 1, 3);
    }
    a.v_xor_b32(chunk, s.half, chunk);
    a.v_mul_u32_u24(s.key_read[0], s.g.key_row_bytes, s.query_lane);
    a.v_lshl_add_u32(s.key_read[0], chunk, 4, s.key_read[0]);
    a.v_add_u32(s.key_read[0], s.g.key_lds, s.key_read[0]);
    for (int step = 1; step < s.g.key_reads; ++step) {
      a.v_xor_b32(s.key_read[step], 32 * step, s.key_read[0]);
    }
  }
  {
    // V: lane l of each 16 gives the address of 4 columns of row
    // 4 * half + l / 4; 16 * (lane / 16 % 2) + 4 * (l % 4) is its column in a
    // 32-column block. Block b stands at 64-byte stretch b ^ (row % 4).
    ScopedVReg row = a.vgprs().Scoped("row_mod_4");
    ScopedVReg t = a.vgprs().Scoped("address_part");
    const VReg first = s.value_read[0];
    a.v_bfe_u32(row, s.query_lane, 2, 2);
    a.v_lshl_add_u32(t, s.half, 2, row);
    a.v_mul_u32_u24(first, s.g.value_row_bytes, t);
    a.v_lshl_add_u32(first, row, 6, first);
    a.v_lshrrev_b32(t, 4, s.query_lane);
    a.v_lshl_add_u32(first, t, 5, first);
    a.v_and_b32(t, 3, s.query_lane);
    a.v_lshl_add_u32(first, t, 3, first);
    for (int block = 1; block < s.g.value_blocks; ++block) {
      a.v_xor_b32(s.value_read[block], 64 * block, first);
    }
  }
}

void EmitLoaderStart(KernelState& s) {
  Assembler& a = s.a;
  const struct {
    SReg desc;
    size_t base;
    SReg left;
  } kTensors[] = {
      {s.key_desc, offsetof(AttentionArgs, key), s.key_left},
      {s.value_desc, offsetof(AttentionArgs, value), s.value_left},
  };
  for (const auto& t : kTensors) {
    a.s_mov_b32(t.desc[0], s.Arg64(t.base)[0]);
    a.s_and_b32(t.desc[1], s.Arg64(t.base)[1], 0xffff);
    a.s_mov_b32(t.desc[3], kBufferFormat);
    a.s_lshl_b32(t.left, s.group_tiles, 6);
    a.s_min_i32(t.left, t.left, s.Arg(offsetof(AttentionArgs, seqlen_kv)));
  }
}

void EmitValueReadStart(KernelState& s) {
  for (int block = 0; block < s.g.value_blocks; ++block) {
    s.a.v_or_b32(s.value_read[block], ValuePairBytes(s), s.value_read[block]);
  }
  s.a.s_mov_b32(s.value_wave_lds, s.wave_lds);
}

void EmitValueReadMove(KernelState& s, int block) {
  s.a.v_xor_b32(s.value_read[block], ValuePairBytes(s), s.value_read[block]);
}

void EmitKeyTileLoad(KernelState& s, int parity) {
  EmitTileLoad(s, {"K", s.key_desc, s.key_left, s.key_step,
                   s.Arg(offsetof(AttentionArgs, key_seq_stride)), s.key_load,
                   s.g.key_row_bytes, s.wave_lds,
                   s.g.key_lds + parity * s.g.key_tile_bytes});
}

void EmitValueTileLoad(KernelState& s, int parity) {
  EmitTileLoad(s, {"V", s.value_desc, s.value_left, s.value_step,
                   s.Arg(offsetof(AttentionArgs, value_seq_stride)),
                   s.value_load, s.g.value_row_bytes, s.value_wave_lds,
                   parity * s.g.value_tile_bytes});
  if (parity == 1) {
    s.a.s_xor_b32(s.value_wave_lds, s.value_wave_lds, ValuePairBytes(s));
  }
}

}  // namespace zyfa::gen

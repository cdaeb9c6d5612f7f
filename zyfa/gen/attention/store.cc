#include "zyfa/gen/attention/store.h"

#include "zyfa/gen/attention/query_tile.h"

namespace zyfa::gen {
namespace {

constexpr float kLn2 = 0.693147180559945309f;

// Both lanes of a row get the sum over all its keys.
void EmitRowSum(KernelState& s) {
  Assembler& a = s.a;
  ScopedVReg other = a.vgprs().Scoped("other_half_sum");
  a.v_mov_b32(other, s.row_sum);
  a.v_permlane32_swap_b32(s.row_sum, other);
  a.v_add_f32(s.row_sum, s.row_sum, other);
}

// The output goes through the wave's own LDS, so that whole memory lines are
// stored. Chunk c (of 16 bytes) of the 128-byte part of row r stands at place
// c ^ (r % 8): lanes that LDS serves together meet different banks
// (cdna4-timing 4).
struct OutputAddresses {
  VReg write;   // row lane % 32, chunk `half`
  VReg read;    // row lane / 8, chunk lane % 8
  VReg memory;  // the same
};

void EmitOutputAddresses(KernelState& s, const OutputAddresses& o,
                         SReg stride) {
  Assembler& a = s.a;
  constexpr int kPart = Geometry::kOutputPartBytes;
  ScopedVReg t = a.vgprs().Scoped("address_part");
  ScopedVReg row = a.vgprs().Scoped("row_of_eight");
  ScopedSReg base = a.sgprs().Scoped("own_lds");
  a.s_mul_i32(base, s.wave, s.g.own_bytes);
  a.s_add_u32(base, base, s.g.own_lds);
  a.v_and_b32(t, 7, s.query_lane);
  a.v_xor_b32(t, s.half, t);
  a.v_lshlrev_b32(o.write, 7, s.query_lane);
  static_assert(kPart == 1 << 7);
  a.v_lshl_add_u32(o.write, t, 4, o.write);
  a.v_add_u32(o.write, base, o.write);

  a.v_lshl_or_b32(t, s.half, 5, s.query_lane);
  a.v_lshrrev_b32(row, 3, t);
  a.v_and_b32(t, 7, t);
  a.v_mul_lo_u32(o.memory, row, stride);
  a.v_lshl_add_u32(o.memory, t, 4, o.memory);
  a.v_xor_b32(t, row, t);
  a.v_lshlrev_b32(o.read, 7, row);
  a.v_lshl_add_u32(o.read, t, 4, o.read);
  a.v_add_u32(o.read, base, o.read);
}

void EmitOutputRows(KernelState& s) {
  Assembler& a = s.a;
  const SReg stride = s.Arg(offsetof(AttentionArgs, output_seq_stride));
  EmitRowDescriptor(s, offsetof(AttentionArgs, output), stride,
                    s.g.value_row_bytes);
  ScopedVReg write = a.vgprs().Scoped("output_write");
  ScopedVReg read = a.vgprs().Scoped("output_read");
  ScopedVReg memory = a.vgprs().Scoped("output_offset");
  EmitOutputAddresses(s, {write, read, memory}, stride);

  ScopedVReg inverse = a.vgprs().Scoped("inverse_sum");
  a.v_rcp_f32(inverse, s.row_sum);
  a.Comment("rows without a key: 0 instead of 0 * inf");
  a.v_cmp_neq_f32(vcc, 0, s.row_sum);
  a.v_cndmask_b32(inverse, 0, inverse, vcc);

  ScopedSReg rows8 = a.sgprs().Scoped("eight_rows");
  a.s_lshl_b32(rows8, stride, 3);
  ScopedVReg place = a.vgprs().Scoped("output_place");
  constexpr int kPart = Geometry::kOutputPartBytes;
  const int parts = s.g.value_row_bytes / kPart;
  for (int part = 0; part < parts; ++part) {
    a.Comment("columns of one memory line of each row");
    // Registers 4 k .. 4 k + 3 of a block hold columns 8 k + 4 half + 0..3.
    // Packing and one swap of halves per dword bring 8 neighbouring columns
    // into a lane: columns 16 k of half 0 and 16 k + 8 of half 1.
    for (int k = 0; k < kPart / 32; ++k) {
      const VReg o = s.output.sub(8 * (part * kPart / 32 + k), 8);
      for (int i = 0; i < 8; ++i) a.v_mul_f32(o[i], inverse, o[i]);
      for (int i = 0; i < 4; ++i) {
        a.v_cvt_pk_bf16_f32(o[i], o[2 * i], o[2 * i + 1]);
      }
      a.v_permlane32_swap_b32(o[0], o[2]);
      a.v_permlane32_swap_b32(o[1], o[3]);
      a.v_xor_b32(place, 32 * k, write);
      a.ds_write_b128(place, o.sub(0, 4));
    }
    const auto rows = [&](int i) {
      return s.output.sub(8 * (part * kPart / 32 + i) + 4, 4);
    };
    for (int i = 0; i < Geometry::kQueriesPerWave / 8; ++i) {
      a.ds_read_b128(rows(i), read, 8 * kPart * i);
    }
    for (int i = 0; i < Geometry::kQueriesPerWave / 8; ++i) {
      if (i == 0) {
        a.v_mov_b32(place, memory);
      } else {
        a.v_add_u32(place, rows8, place);
      }
      a.buffer_store_dwordx4(rows(i), place, s.row_desc, 0, kPart * part);
    }
  }
}

void EmitLse(KernelState& s) {
  Assembler& a = s.a;
  const SReg lse = s.Arg64(offsetof(AttentionArgs, lse));
  a.Comment("LSE = scale * reference + ln(sum), f32, one lane a row");
  ScopedVReg value = a.vgprs().Scoped("lse_value");
  ScopedVReg offset = a.vgprs().Scoped("lse_offset");
  a.v_log_f32(value, s.row_sum);
  a.v_mul_f32(value, F32(kLn2), value);
  a.v_fma_f32(value, s.row_max, s.Arg(offsetof(AttentionArgs, scale)), value);
  a.v_lshlrev_b32(offset, 2, s.query_lane);

  ScopedSReg row_bytes = a.sgprs().Scoped("row_bytes");
  a.s_mov_b32(row_bytes, 4);
  EmitRowDescriptor(s, offsetof(AttentionArgs, lse), row_bytes, 4);
  a.Comment("a null pointer drops all stores");
  a.s_cmp_eq_u64(lse, 0);
  a.s_cselect_b32(s.row_desc[2], 0, s.row_desc[2]);
  a.s_mov_b32(exec_hi, 0);
  a.buffer_store_dword(value, offset, s.row_desc, 0);
  a.s_mov_b32(exec_hi, -1);
}

}  // namespace

void EmitStore(KernelState& s) {
  s.a.Section("Query tile: divide by the row sums, store O and LSE");
  EmitRowSum(s);
  EmitOutputRows(s);
  EmitLse(s);
}

}  // namespace zyfa::gen

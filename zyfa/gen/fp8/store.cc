#include "zyfa/gen/fp8/store.h"

#include "zyfa/gen/fp8/item.h"

namespace zyfa::gen::fp8 {
namespace {

constexpr float kLn2 = 0.693147180559945309f;
constexpr int kLine = 128;  // of memory, in bytes

// The output goes through the wave's own LDS, so that whole memory lines are
// stored: a line of each of the 32 rows at a time. Chunk c (of 16 bytes) of row
// r stands at place c ^ (r % 8): lanes that LDS serves together meet different
// banks (cdna4-timing 4).
struct OutputAddresses {
  VReg write;   // row lane % 32, chunk 0
  VReg read;    // row lane / 8, chunk lane % 8
  VReg memory;  // the same
};

void EmitOutputAddresses(KernelState& s, const OutputAddresses& o,
                         SReg stride) {
  Assembler& a = s.a;
  ScopedVReg t = a.vgprs().Scoped("address_part");
  ScopedVReg row = a.vgprs().Scoped("row_of_eight");
  ScopedSReg base = a.sgprs().Scoped("own_lds");
  a.s_mul_i32(base, s.wave, s.g.own_bytes);
  a.s_add_u32(base, base, s.g.own_lds);
  a.v_and_b32(t, 7, s.query_lane);
  a.v_lshlrev_b32(o.write, 7, s.query_lane);
  static_assert(kLine == 1 << 7);
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

// Stores a line of each row from LDS; `at` bytes into the rows.
void EmitLines(KernelState& s, const OutputAddresses& o, SReg descriptor,
               SReg stride, VReg data, int at) {
  Assembler& a = s.a;
  constexpr int kLoads = Geometry::kQueriesPerWave / 8;
  ScopedVReg place = a.vgprs().Scoped("output_place");
  ScopedSReg rows8 = a.sgprs().Scoped("eight_rows");
  a.s_lshl_b32(rows8, stride, 3);
  for (int i = 0; i < kLoads; ++i) {
    a.ds_read_b128(data.sub(4 * i, 4), o.read, 8 * kLine * i);
  }
  for (int i = 0; i < kLoads; ++i) {
    if (i == 0) {
      a.v_mov_b32(place, o.memory);
    } else {
      a.v_add_u32(place, rows8, place);
    }
    a.buffer_store_dwordx4(data.sub(4 * i, 4), place, descriptor, 0, at);
  }
}

// Registers 4 k .. 4 k + 3 of a block of 32 columns hold columns 8 k + 4 half +
// 0..3. Packing and one swap of halves per dword bring 8 neighbouring columns
// into a lane: columns 16 k of half 0 and 16 k + 8 of half 1.
void EmitBf16Rows(KernelState& s, const OutputAddresses& o, SReg descriptor,
                  SReg stride) {
  Assembler& a = s.a;
  ScopedVReg write = a.vgprs().Scoped("half_write");
  ScopedVReg place = a.vgprs().Scoped("write_place");
  a.v_lshlrev_b32(write, 4, s.half);
  a.v_xor_b32(write, write, o.write);
  for (int part = 0; part < 2; ++part) {
    a.Comment("columns of one memory line of each row");
    const VReg line = s.output_sum.sub(32 * part, 32);
    for (int k = 0; k < 4; ++k) {
      const VReg x = line.sub(8 * k, 8);
      for (int i = 0; i < 4; ++i) {
        a.v_cvt_pk_bf16_f32(x[i], x[2 * i], x[2 * i + 1]);
      }
      a.v_permlane32_swap_b32(x[0], x[2]);
      a.v_permlane32_swap_b32(x[1], x[3]);
      a.v_xor_b32(place, 32 * k, write);
      a.ds_write_b128(place, x.sub(0, 4));
    }
    EmitLines(s, o, descriptor, stride, line.sub(16, 16), kLine * part);
  }
}

// A row is one line. Dword 2 k + half of a block's 32 bytes is one register
// pack; a swap of halves brings two neighbouring dwords into a lane.
void EmitFp8Rows(KernelState& s, const OutputAddresses& o, SReg descriptor,
                 SReg stride) {
  Assembler& a = s.a;
  ScopedVReg write = a.vgprs().Scoped("half_write");
  ScopedVReg place = a.vgprs().Scoped("write_place");
  ScopedVReg scale = a.vgprs().Scoped("output_scale");
  {
    ScopedSReg address = a.sgprs().Scoped("scale_address", 2);
    ScopedSReg number = a.sgprs().Scoped("scale_number", 2);
    a.Comment("scale of the output: from memory, or the arguments' number");
    a.s_load_dwordx2(address, s.kernarg,
                     static_cast<int>(offsetof(AttentionArgs, output_scale)));
    a.s_add_u32(number[0], s.kernarg[0],
                static_cast<int>(offsetof(AttentionArgs, output_scale_value)));
    a.s_addc_u32(number[1], s.kernarg[1], 0);
    a.s_cmp_lg_u64(address, 0);
    a.s_cselect_b32(address[0], address[0], number[0]);
    a.s_cselect_b32(address[1], address[1], number[1]);
    a.s_load_dword(number[0], address, 0);
    a.v_mov_b32(scale, number[0]);
  }
  a.v_lshlrev_b32(write, 3, s.half);
  a.v_add_u32(write, write, o.write);
  for (int block = 0; block < Geometry::kValueBlocks; ++block) {
    const VReg x = s.output_sum.sub(16 * block, 16);
    for (int i = 0; i < x.count(); ++i) a.v_mul_f32(x[i], scale, x[i]);
    for (int k = 0; k < 4; ++k) {
      a.v_cvt_pk_fp8_f32(x[k], x[4 * k], x[4 * k + 1]);
    }
    for (int k = 0; k < 4; ++k) {
      a.v_cvt_pk_fp8_f32(x[k], x[4 * k + 2], x[4 * k + 3]).dst_high();
    }
    a.Comment("half 0: dwords 0 and 1, 4 and 5; half 1: 2 and 3, 6 and 7");
    a.v_permlane32_swap_b32(x[0], x[1]);
    a.v_permlane32_swap_b32(x[2], x[3]);
    for (int k = 0; k < 2; ++k) {
      a.v_xor_b32(place, 16 * (2 * block + k), write);
      a.ds_write_b64(place, x.sub(2 * k, 2));
    }
  }
  EmitLines(s, o, descriptor, stride, s.output_sum.sub(0, 16), 0);
}

void EmitOutput(KernelState& s) {
  Assembler& a = s.a;
  const SReg stride = s.Shape(offsetof(AttentionArgs, output_seq_stride));
  ScopedSReg descriptor = a.sgprs().Scoped("output_descriptor", 4);
  ScopedVReg write = a.vgprs().Scoped("output_write");
  ScopedVReg read = a.vgprs().Scoped("output_read");
  ScopedVReg memory = a.vgprs().Scoped("output_offset");
  const OutputAddresses o = {write, read, memory};
  EmitOutputAddresses(s, o, stride);
  {
    ScopedVReg inverse = a.vgprs().Scoped("inverse_sum");
    a.v_rcp_f32(inverse, s.row_sum);
    a.v_mul_f32(inverse, s.value_descale, inverse);
    a.Comment("rows without a key: 0 instead of 0 * inf");
    a.v_cmp_neq_f32(vcc, 0, s.row_sum);
    a.v_cndmask_b32(inverse, 0, inverse, vcc);
    for (int i = 0; i < s.output_sum.count(); ++i) {
      a.v_mul_f32(s.output_sum[i], inverse, s.output_sum[i]);
    }
  }
  const Label fp8 = a.NewLabel("output_fp8");
  const Label stored = a.NewLabel("output_stored");
  a.s_bitcmp1_b32(s.Control(offsetof(AttentionArgs, flags)), 0);
  static_assert(kOutputFp8 == 1 << 0);
  a.s_cbranch_scc1(fp8);
  EmitRowDescriptor(s, descriptor, s.output, stride, 2 * Geometry::kHeadDimV,
                    s.row0, s.valid_rows);
  EmitBf16Rows(s, o, descriptor, stride);
  a.s_branch(stored);
  a.Bind(fp8);
  EmitRowDescriptor(s, descriptor, s.output, stride, Geometry::kHeadDimV,
                    s.row0, s.valid_rows);
  EmitFp8Rows(s, o, descriptor, stride);
  a.Bind(stored);
}

void EmitLse(KernelState& s) {
  Assembler& a = s.a;
  a.Comment("LSE = (reference in binades + log2(sum)) ln 2, one lane a row");
  ScopedVReg value = a.vgprs().Scoped("lse_value");
  ScopedVReg offset = a.vgprs().Scoped("lse_offset");
  ScopedSReg descriptor = a.sgprs().Scoped("lse_descriptor", 4);
  ScopedSReg row_bytes = a.sgprs().Scoped("row_bytes");
  // What a weight of 1 is in the sum: 1.75 for lean codes.
  a.v_mul_f32(value, F32(s.g.lean ? 1 / 1.75f : 1.0f), s.row_sum);
  a.v_log_f32(value, value);
  a.v_fma_f32(value, s.row_max, s.unit_scale, value);
  a.v_mul_f32(value, F32(kLn2), value);
  a.v_lshlrev_b32(offset, 2, s.query_lane);
  a.s_mov_b32(row_bytes, 4);
  EmitRowDescriptor(s, descriptor, s.lse, row_bytes, 4, s.row0, s.valid_rows);
  a.Comment("a null pointer drops all stores");
  a.s_cmp_eq_u64(s.lse, 0);
  a.s_cselect_b32(descriptor[2], 0, descriptor[2]);
  a.s_mov_b32(exec_hi, 0);
  a.buffer_store_dword(value, offset, descriptor, 0);
  a.s_mov_b32(exec_hi, -1);
}

}  // namespace

void EmitStore(KernelState& s) {
  s.a.Section("Divide by the row sums, store O and LSE");
  EmitOutput(s);
  EmitLse(s);
}

}  // namespace zyfa::gen::fp8

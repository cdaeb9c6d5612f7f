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

void EmitOutputRows(KernelState& s) {
  Assembler& a = s.a;
  const SReg stride = s.Arg(offsetof(AttentionArgs, output_seq_stride));
  EmitRowDescriptor(s, offsetof(AttentionArgs, output), stride,
                    s.g.value_row_bytes);
  ScopedVReg offset = a.vgprs().Scoped("output_offset");
  a.v_mul_lo_u32(offset, s.query_lane, stride);
  a.v_lshl_add_u32(offset, s.half, 4, offset);

  ScopedVReg inverse = a.vgprs().Scoped("inverse_sum");
  a.v_rcp_f32(inverse, s.row_sum);
  a.Comment("rows without a key: 0 instead of 0 * inf");
  a.v_cmp_neq_f32(vcc, 0, s.row_sum);
  a.v_cndmask_b32(inverse, 0, inverse, vcc);

  // Registers 4 k .. 4 k + 3 of a block hold columns 8 k + 4 half + 0..3.
  // Packing and one swap of halves per dword bring 8 neighbouring columns into
  // a lane: columns 16 k of half 0 and 16 k + 8 of half 1.
  for (int r = 0; r < s.output.count(); r += 8) {
    const VReg o = s.output.sub(r, 8);
    for (int i = 0; i < 8; ++i) a.v_mul_f32(o[i], inverse, o[i]);
    for (int i = 0; i < 4; ++i) {
      a.v_cvt_pk_bf16_f32(o[i], o[2 * i], o[2 * i + 1]);
    }
    a.v_permlane32_swap_b32(o[0], o[2]);
    a.v_permlane32_swap_b32(o[1], o[3]);
    a.buffer_store_dwordx4(o.sub(0, 4), offset, s.row_desc, 0, 4 * r);
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

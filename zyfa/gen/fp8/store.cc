#include "zyfa/gen/fp8/store.h"

namespace zyfa::gen::fp8 {
namespace {

constexpr float kLn2 = 0.693147180559945309f;
// Registers 4 k .. 4 k + 3 of a block of 32 columns hold columns 8 k + 4 half +
// 0..3 of row lane % 32. Swapping halves brings neighbouring columns together:
// stores of 16 bytes a lane (bf16), 8 (e4m3), the two halves of a row side by
// side. Through LDS whole memory lines could be stored, but the wave would have
// to wait for it, and the work-group for the wave.

}  // namespace

OutputStore::OutputStore(KernelState& state)
    : s(state), a(state.a), place_(s.fragments[8]), inverse_(s.fragments[9]) {}

void OutputStore::EmitFactors() {
  const SReg stride = s.Shape(offsetof(AttentionArgs, output_seq_stride));
  const Label bf16 = a.NewLabel("output_bf16");
  a.Section("Divide by the row sums, store O and LSE");
  a.v_mul_lo_u32(place_, s.query_lane, stride);
  a.v_rcp_f32(inverse_, s.row_sum);
  a.v_mul_f32(inverse_, s.value_descale, inverse_);
  a.Comment("rows without a key: 0 instead of 0 * inf");
  a.v_cmp_neq_f32(vcc, 0, s.row_sum);
  a.v_cndmask_b32(inverse_, 0, inverse_, vcc);
  a.v_lshl_add_u32(place_, s.half, 3, place_);
  EmitTestFp8();
  a.s_cbranch_scc0(bf16);
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
  a.Comment("finite, for an infinity times 0 would be no number; or NaN");
  ScopedVReg limit = a.vgprs().Scoped("largest_factor");
  a.v_mov_b32(limit, Bits(0x7f7fffff));
  a.v_mul_f32(inverse_, number[0], inverse_);
  a.v_minimum3_f32(inverse_, inverse_, limit, limit);
  a.v_maximum3_f32(inverse_, inverse_, -limit, -limit);
  a.Bind(bf16);
}

void OutputStore::EmitTestFp8() {
  a.s_bitcmp1_b32(s.Control(offsetof(AttentionArgs, flags)), 0);
  static_assert(kOutputFp8 == 1 << 0);
}

void OutputStore::EmitHalf(int half) {
  const Label fp8 = a.NewLabel("output_fp8");
  const Label stored = a.NewLabel("output_stored");
  EmitTestFp8();
  a.s_cbranch_scc1(fp8);
  EmitBf16Rows(half);
  a.s_branch(stored);
  a.Bind(fp8);
  EmitFp8Rows(half);
  a.Bind(stored);
  if (half == 1) EmitLse();
}

// Columns 16 k of half 0 and 16 k + 8 of half 1: 32 bytes of a row.
// Scaled piece by piece, as a store of that many memory lines takes its time.
void OutputStore::EmitBf16Rows(int half) {
  if (half == 0) a.v_lshl_add_u32(place_, s.half, 3, place_);
  for (int k = 4 * half; k < 4 * half + 4; ++k) {
    const VReg x = s.output_sum.sub(8 * k, 8);
    for (int i = 0; i < x.count(); ++i) a.v_mul_f32(x[i], inverse_, x[i]);
    for (int i = 0; i < 4; ++i) {
      a.v_cvt_pk_bf16_f32(x[i], x[2 * i], x[2 * i + 1]);
    }
    a.v_permlane32_swap_b32(x[0], x[2]);
    a.v_permlane32_swap_b32(x[1], x[3]);
    a.buffer_store_dwordx4(x.sub(0, 4), place_, s.output, 0, 32 * k);
  }
}

// Dword 2 k + half of a block's 32 bytes is a register. Dwords 0, 1 of half 0
// and 2, 3 of half 1, then 4, 5 and 6, 7.
void OutputStore::EmitFp8Rows(int half) {
  for (int block = 2 * half; block < 2 * half + 2; ++block) {
    const VReg x = s.output_sum.sub(16 * block, 16);
    for (int i = 0; i < x.count(); ++i) a.v_mul_f32(x[i], inverse_, x[i]);
    for (int k = 0; k < 4; ++k) {
      a.v_cvt_pk_fp8_f32(x[k], x[4 * k], x[4 * k + 1]);
      if (k > 0) {
        a.v_cvt_pk_fp8_f32(x[k - 1], x[4 * k - 2], x[4 * k - 1]).dst_high();
      }
    }
    a.v_cvt_pk_fp8_f32(x[3], x[14], x[15]).dst_high();
    for (int k = 0; k < 2; ++k) {
      a.v_permlane32_swap_b32(x[2 * k], x[2 * k + 1]);
      a.buffer_store_dwordx2(x.sub(2 * k, 2), place_, s.output, 0,
                             32 * block + 16 * k);
    }
  }
}

void OutputStore::EmitLse() {
  a.Comment("LSE = (reference in binades + log2(sum)) ln 2, one lane a row");
  const VReg value = s.fragments[10], offset = s.fragments[11];
  // What a weight of 1 is in the sum: 1.75 for lean codes.
  a.v_mul_f32(value, F32(s.g.exact ? 1.0f : 1 / 1.75f), s.row_sum);
  a.v_log_f32(value, value);
  if (s.g.int8) {
    a.v_cvt_f32_i32(s.base_reference, s.base_reference);
    a.v_sub_u32(offset, 0, s.binade_shift);
    a.v_ldexp_f32(offset, F32(1.0f), offset);
    a.v_fma_f32(value, s.base_reference, offset, value);
  } else {
    a.v_fma_f32(value, s.row_max, s.unit_scale, value);
  }
  a.v_mul_f32(value, F32(kLn2), value);
  a.v_lshlrev_b32(offset, 2, s.query_lane);
  a.s_mov_b32(exec_hi, 0);
  a.buffer_store_dword(value, offset, s.lse, 0);
  a.s_mov_b32(exec_hi, -1);
}

}  // namespace zyfa::gen::fp8

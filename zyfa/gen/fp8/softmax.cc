#include "zyfa/gen/fp8/softmax.h"

namespace zyfa::gen::fp8 {
namespace {

constexpr uint32_t kMagnitude = 0x7fffffff;
// 2^12: below, the reference in binades is rounded by 2^-13 at most.
constexpr uint32_t kLargestScaledMax = 0x45800000;

// What a masked score is, and a threshold between it and all others. Raw scores
// are below 2^26, score scales between 2^-50 and 2^60.
Imm MaskedScore(const Geometry& g) {
  return g.lean ? F32(-1.0f) : Bits(0xf1800000);  // -2^100
}
Imm LeastThreshold(const Geometry& g) {
  return g.lean ? F32(-0.5f) : Bits(0xec800000);  // -2^90
}

// What the codes of a tile whose maximum equals the reference decode to there.
float TopWeight(const Geometry& g) { return g.lean ? 1.75f : 1.0f; }

// Key of score register r relative to its tile, for lane half 0.
int KeyOfRegister(int r) { return 8 * (r / 4) + r % 4; }

}  // namespace

void EmitMask(KernelState& s, int parity) {
  Assembler& a = s.a;
  const VReg scores = s.scores[parity];
  constexpr int kGroup = 4;
  ScopedVReg limit = a.vgprs().Scoped("tile_key_limit");
  ScopedVReg masked = a.vgprs().Scoped("masked_score");
  ScopedSReg first_key = a.sgprs().Scoped("first_key");
  ScopedSReg visible = a.sgprs().Scoped("visible", 2 * kGroup, 2);
  a.Comment("mask: keep key <= last visible key of the row");
  a.s_lshl_b32(first_key, s.key_tile, 6);
  a.v_subrev_u32(limit, first_key, s.key_limit);
  a.v_mov_b32(masked, MaskedScore(s.g));
  // In groups, so that each lane mask is a few instructions old when it is
  // used.
  for (int r = 0; r < scores.count(); r += kGroup) {
    for (int i = 0; i < kGroup; ++i) {
      a.v_cmp_le_i32(visible.sub(2 * i, 2), KeyOfRegister(r + i), limit);
    }
    for (int i = 0; i < kGroup; ++i) {
      a.v_cndmask_b32(scores[r + i], masked, scores[r + i],
                      visible.sub(2 * i, 2));
    }
  }
}

void EmitBlockMax(KernelState& s, int parity, int block) {
  Assembler& a = s.a;
  const VReg x = s.scores[parity].sub(16 * block, 16);
  const VReg largest = s.tile_max;
  int r = 0;
  if (block == 0) {
    a.Comment("row maximum of the tile");
    a.v_max3_f32(largest, x[0], x[1], x[2]);
    r = 3;
  }
  for (; r + 1 < x.count(); r += 2) {
    a.v_max3_f32(largest, largest, x[r], x[r + 1]);
  }
  if (r < x.count()) a.v_max_f32(largest, largest, x[r]);
}

void EmitRowMax(KernelState& s, const TileForm& form) {
  Assembler& a = s.a;
  a.v_mov_b32(s.other_max, s.tile_max);
  a.v_permlane32_swap_b32(s.tile_max, s.other_max);
  a.v_max_f32(s.tile_max, s.tile_max, s.other_max);
  if (form.late) a.v_sub_f32(s.tile_max, s.tile_max, s.late);
}

void EmitRowSum(KernelState& s) {
  s.a.Comment("row sum, with the tile's exponent");
  s.a.v_fma_f32(s.row_sum, s.code_sum[0], s.exponent, s.row_sum);
}

void EmitMoveTest(KernelState& s, Label move) {
  s.a.v_cmp_gt_f32(vcc, s.tile_max, s.threshold);
  s.a.s_cbranch_vccnz(move);
}

namespace {

// threshold = distance from the reference at which a new maximum begins to
// weigh more than kMoveShare of row_sum.
void EmitThreshold(KernelState& s) {
  Assembler& a = s.a;
  a.v_mul_f32(s.threshold, F32(kMoveShare / TopWeight(s.g)), s.row_sum);
  a.v_log_f32(s.threshold, s.threshold);
  a.v_max_f32(s.threshold, 0, s.threshold);
  a.v_mul_f32(s.threshold, s.inverse_unit, s.threshold);
}

// After row_max has moved by `distance` in `rows`: what follows from it.
void EmitLeanReference(KernelState& s, SReg rows, SReg careful_rows) {
  Assembler& a = s.a;
  a.v_cndmask_b32(s.late, 0, s.row_max, careful_rows);
  a.v_sub_f32(s.reference, s.row_max, s.late);
  a.v_mul_f32(s.scaled_max, s.unit_scale, s.reference);
  a.v_mov_b32(s.code_bias, s.lean_top);
  a.v_fma_f32(s.code_bias, s.scaled_max, s.minus_eight, s.code_bias);
  a.v_cndmask_b32(s.tile_max, s.tile_max, s.reference, rows);
}

void EmitExactReference(KernelState& s, int parity, VReg distance,
                        SReg careful_rows) {
  Assembler& a = s.a;
  a.v_cndmask_b32(s.next_late, 0, s.row_max, careful_rows);
  a.Comment("what the products of further tiles begin with");
  for (int i = 0; i < s.addend.count(); ++i) {
    a.v_sub_f32(s.addend[i], s.next_late, s.row_max);
  }
  a.Comment("this tile's scores still have the old reference");
  a.v_sub_f32(s.tile_max, s.tile_max, distance);
  for (int i = 0; i < s.scores[parity].count(); ++i) {
    a.v_sub_f32(s.scores[parity][i], s.scores[parity][i], distance);
  }
}

}  // namespace

void EmitMove(KernelState& s, int parity, Label stay, const Label* overflow) {
  Assembler& a = s.a;
  ScopedVReg distance = a.vgprs().Scoped("move_distance");
  ScopedVReg value = a.vgprs().Scoped("moved_value");
  ScopedSReg rows = a.sgprs().Scoped("moving_rows", 2);
  ScopedSReg keyless = a.sgprs().Scoped("keyless_rows", 2);
  const Label moves = a.NewLabel("moves");
  if (s.g.lean) {
    a.v_sub_f32(distance, s.tile_max, s.reference);
  } else {
    a.v_mov_b32(distance, s.tile_max);
  }
  a.Comment("the threshold is as old as the last move: a new one");
  EmitThreshold(s);
  a.Comment("rows without a key so far move at once");
  a.v_cmp_eq_f32(keyless, 0, s.row_sum);
  a.v_mov_b32(value, LeastThreshold(s.g));
  a.v_cndmask_b32(s.threshold, s.threshold, value, keyless);
  a.v_cmp_gt_f32(rows, distance, s.threshold);
  a.s_cmp_lg_u64(rows, 0);
  a.s_cbranch_scc1(moves);
  if (s.g.lean) a.v_add_f32(s.threshold, s.reference, s.threshold);
  a.s_branch(stay);

  a.Bind(moves);
  a.Comment("move the reference of those rows");
  a.s_mov_b32(s.moved, 1);
  a.v_cndmask_b32(distance, 0, distance, rows);
  a.v_mul_f32(s.factor, s.unit_scale, distance);
  a.v_exp_f32(s.factor, -s.factor);
  a.Comment("0 times an infinity would be no number at a row's first key");
  a.v_min_f32(s.factor, Bits(0x7f7fffff), s.factor);
  a.v_mul_f32(s.row_sum, s.row_sum, s.factor);
  EmitThreshold(s);
  a.s_andn2_b64(keyless, keyless, rows);
  a.v_cndmask_b32(s.threshold, s.threshold, value, keyless);
  if (s.g.lean) {
    a.v_add_f32(value, s.tile_max, s.late);
    a.v_cndmask_b32(s.row_max, s.row_max, value, rows);
  } else {
    a.v_add_f32(s.row_max, s.row_max, distance);
  }
  a.v_mul_f32(value, s.unit_scale, s.row_max);
  a.v_and_b32(value, Bits(kMagnitude), value);
  ScopedSReg careful_rows = a.sgprs().Scoped("careful_rows", 2);
  a.v_cmp_le_u32(vcc, Bits(kLargestScaledMax), value);
  a.s_mov_b64(careful_rows, vcc);
  if (s.g.lean) {
    EmitLeanReference(s, rows, careful_rows);
    a.v_add_f32(s.threshold, s.reference, s.threshold);
  } else {
    EmitExactReference(s, parity, distance, careful_rows);
  }
  if (overflow != nullptr) {
    a.s_cmp_lg_u64(careful_rows, 0);
    a.s_cbranch_scc1(*overflow);
  }
  a.s_branch(stay);
}

void EmitScaleOutput(KernelState& s) {
  for (int i = 0; i < s.output_sum.count(); ++i) {
    s.a.v_mul_f32(s.output_sum[i], s.factor, s.output_sum[i]);
  }
  if (!s.g.lean) s.a.v_mov_b32(s.late, s.next_late);
}

void EmitTileExponent(KernelState& s, int parity, const TileForm& form) {
  Assembler& a = s.a;
  a.Comment("exponent of the tile's codes");
  VReg binades = s.exponent;
  if (s.g.lean) {
    a.v_fma_f32(s.exponent, s.unit_scale, s.tile_max, -s.scaled_max);
  } else if (form.multiply) {
    a.v_mul_f32(s.exponent, s.unit_scale, s.tile_max);
  } else {
    binades = s.tile_max;
  }
  a.v_max_f32(s.exponent, F32(kLeastExponent), binades);
  a.v_ceil_f32(s.exponent, s.exponent);
  a.v_add_f32(s.block_scale[parity], F32(127.0f - kHeadroom), s.exponent);
  a.v_cvt_u32_f32(s.block_scale[parity], s.block_scale[parity]);
  if (s.g.lean) {
    a.v_fma_f32(s.tile_bias, s.exponent, s.minus_eight, s.code_bias);
  }
  a.v_lshlrev_b32(s.exponent, 23, s.block_scale[parity]);
}

namespace {

// Four codes of a dword are written as two halves. Between the two there is
// another instruction: the forwarding of such partial writes is not complete
// (CDNA4 ISA, the note on conversions).
void EmitHalf(KernelState& s, VReg codes, int piece, VReg x, bool high) {
  Assembler& a = s.a;
  const VReg from = x.sub(4 * piece + (high ? 2 : 0), 2);
  if (s.g.lean) {
    auto&& pack = a.v_ashr_pk_u8_i32(codes[piece], from[0], from[1], 8);
    if (high) pack.dst_high();
  } else {
    auto&& pack =
        a.v_cvt_scalef32_pk_fp8_f32(codes[piece], from[0], from[1], s.exponent);
    if (high) pack.dst_high();
  }
}

void EmitWeight(KernelState& s, VReg x, const TileForm& form) {
  Assembler& a = s.a;
  if (form.late) a.v_sub_f32(x, x, s.late);
  if (s.g.lean) {
    a.v_fma_f32(x, x, s.code_scale, s.tile_bias);
  } else {
    if (form.multiply) a.v_mul_f32(x, s.unit_scale, x);
    a.v_exp_f32(x, x);
  }
}

}  // namespace

Stream CaptureCodes(KernelState& s, int parity, const TileForm& form, int begin,
                    int end) {
  const VReg x = s.scores[parity];
  return s.a.Capture([&] {
    // A piece is packed beside the next one's weights, whose registers its
    // dword never touches.
    for (int piece = begin; piece < end; ++piece) {
      for (int i = 0; i < 4; ++i) {
        EmitWeight(s, x[4 * piece + i], form);
        if (piece > begin && i % 2 == 1) {
          EmitHalf(s, x, piece - 1, x, /*high=*/i == 3);
        }
      }
    }
    EmitHalf(s, x, end - 1, x, /*high=*/false);
    s.a.s_nop(0);
    EmitHalf(s, x, end - 1, x, /*high=*/true);
  });
}

void EmitSoftmaxStart(KernelState& s) {
  Assembler& a = s.a;
  a.v_mov_b32(s.row_max, 0);
  a.v_mov_b32(s.late, 0);
  a.v_mov_b32(s.row_sum, 0);
  a.v_mov_b32(s.threshold, LeastThreshold(s.g));
  if (s.g.lean) {
    a.v_mov_b32(s.reference, 0);
    a.v_mov_b32(s.scaled_max, 0);
    a.v_mov_b32(s.code_bias, s.lean_top);
  } else {
    a.v_mov_b32(s.next_late, 0);
    for (int i = 0; i < s.addend.count(); ++i) a.v_mov_b32(s.addend[i], 0);
  }
}

}  // namespace zyfa::gen::fp8

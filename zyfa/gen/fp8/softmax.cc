#include "zyfa/gen/fp8/softmax.h"

#include "zyfa/gen/fp8/int8_softmax.h"
#include "zyfa/gen/fp8/matrix_stream.h"

namespace zyfa::gen::fp8 {
namespace {

constexpr uint32_t kMagnitude = 0x7fffffff;
// 2^12: below, the reference in binades is rounded by 2^-13 at most.
constexpr uint32_t kLargestScaledMax = 0x45800000;

// What a masked score is, and a threshold between it and all others. Raw scores
// are below 2^26, score scales between 2^-50 and 2^60.
Imm MaskedScore(const Geometry& g) {
  if (g.int8) return Int8MaskedScore();
  return g.lean ? F32(-1.0f) : Bits(0xf1800000);  // -2^100
}
Imm LeastThreshold(const Geometry& g) {
  return g.lean ? F32(-0.5f) : Bits(0xec800000);  // -2^90
}

// What the codes of a tile whose maximum equals the reference decode to there.
float TopWeight(const Geometry& g) { return g.lean ? 1.75f : 1.0f; }

constexpr uint32_t kQuietNaN = 0x7fc00000;

// Of the e8m0 byte of a tile's codes.
constexpr float kScaleBias = 127.0f - kHeadroom;
// A float32 near it has a unit in the last place of 1, and its low bits are
// those of the difference.
constexpr float kRounder = 3 << 22;
// Lean: with this, rounding to the nearest integer is rounding up, but for a
// quarter of a code at most, which still makes code 126, not the NaN above.
constexpr float kRoundUp = 0.5f - 1.0f / 32;

// Key of score register r relative to its tile, for lane half 0.
int KeyOfRegister(int r) { return 8 * (r / 4) + r % 4; }

}  // namespace

void EmitMask(KernelState& s) {
  Assembler& a = s.a;
  constexpr int kGroup = 4;
  ScopedVReg limit = a.vgprs().Scoped("tile_key_limit");
  ScopedVReg masked = a.vgprs().Scoped("masked_score");
  ScopedSReg first_key = a.sgprs().Scoped("first_key");
  ScopedSReg least = a.sgprs().Scoped("least_full_keys");
  ScopedSReg visible = a.sgprs().Scoped("visible", 2 * kGroup, 2);
  a.Comment("mask: keep key <= last visible key of the row");
  a.s_lshl_b32(first_key, s.key_tile, 6);
  a.v_subrev_u32(limit, first_key, s.key_limit);
  a.v_mov_b32(masked, MaskedScore(s.g));
  for (int block = 0; block < Geometry::kKeyBlocks; ++block) {
    const Label all_visible = a.NewLabel("block_visible");
    a.s_add_u32(first_key, first_key, 32);
    a.s_cmp_ge_i32(s.full_keys, first_key);
    a.s_cbranch_scc1(all_visible);
    // The wave's last row sees this many keys more than its first at most.
    constexpr int kMoreKeys = Geometry::kQueriesPerWave - 1;
    const Label some_visible = a.NewLabel("block_in_part");
    const VReg x = s.scores.sub(16 * block, 16);
    a.s_sub_i32(least, first_key, 32 + kMoreKeys);
    a.s_cmp_lt_i32(least, s.full_keys);
    a.s_cbranch_scc1(some_visible);
    for (int r = 0; r < x.count(); ++r) a.v_mov_b32(x[r], masked);
    a.s_branch(all_visible);
    a.Bind(some_visible);
    // In groups, so that each lane mask is a few instructions old when it is
    // used.
    for (int r = 0; r < x.count(); r += kGroup) {
      for (int i = 0; i < kGroup; ++i) {
        a.v_cmp_le_i32(visible.sub(2 * i, 2), 32 * block + KeyOfRegister(r + i),
                       limit);
      }
      for (int i = 0; i < kGroup; ++i) {
        a.v_cndmask_b32(x[r + i], masked, x[r + i], visible.sub(2 * i, 2));
      }
    }
    a.Bind(all_visible);
  }
}

void EmitBlockMax(KernelState& s, int block) {
  Assembler& a = s.a;
  const VReg x = s.scores.sub(16 * block, 16);
  const VReg largest = s.tile_max;
  int r = 0;
  if (block == 0) {
    a.Comment("row maximum of the tile");
    a.v_maximum3_f32(largest, x[0], x[1], x[2]);
    r = 3;
  }
  for (; r + 1 < x.count(); r += 2) {
    a.v_maximum3_f32(largest, largest, x[r], x[r + 1]);
  }
  if (r < x.count()) a.v_maximum3_f32(largest, largest, largest, x[r]);
}

void EmitRowMax(KernelState& s, const TileForm& form, const Stream& between) {
  Assembler& a = s.a;
  a.v_mov_b32(s.other_max, s.tile_max);
  // The swap would have to wait for the move.
  EmitRowSum(s);
  a.Append(between);
  a.v_permlane32_swap_b32(s.tile_max, s.other_max);
  if (form.late) {
    a.v_maximum3_f32(s.other_max, s.tile_max, s.tile_max, s.other_max);
    a.v_sub_f32(s.tile_max, s.other_max, s.late);
  } else if (form.bounded) {
    a.v_maximum3_f32(s.tile_max, s.tile_max, s.other_max, s.least_max);
  } else {
    a.v_maximum3_f32(s.tile_max, s.tile_max, s.tile_max, s.other_max);
  }
}

void EmitMoveTest(KernelState& s, Label move) {
  s.a.v_cmp_nle_f32(vcc, s.tile_max, s.threshold);
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

// rows = those whose reference is so large that its rounding matters.
void EmitCarefulRows(KernelState& s, SReg rows) {
  Assembler& a = s.a;
  ScopedVReg value = a.vgprs().Scoped("reference_binades");
  a.v_mul_f32(value, s.unit_scale, s.row_max);
  a.v_and_b32(value, Bits(kMagnitude), value);
  a.v_cmp_le_u32(vcc, Bits(kLargestScaledMax), value);
  a.s_mov_b64(rows, vcc);
}

// The maximum of the tile becomes the reference of `rows`.
void EmitLeanReference(KernelState& s, SReg rows, SReg careful_rows,
                       const TileForm& form) {
  Assembler& a = s.a;
  a.v_cndmask_b32(s.row_max, s.row_max, form.late ? s.other_max : s.tile_max,
                  rows);
  EmitCarefulRows(s, careful_rows);
  a.v_cndmask_b32(s.late, 0, s.row_max, careful_rows);
  a.v_sub_f32(s.reference, s.row_max, s.late);
  ScopedVReg scaled = a.vgprs().Scoped("reference_binades");
  a.v_mul_f32(scaled, s.unit_scale, s.reference);
  a.v_sub_f32(s.exponent_bias, F32(kRoundUp), scaled);
  a.v_mov_b32(s.code_bias, s.lean_top);
  a.v_fma_f32(s.code_bias, scaled, s.minus_eight, s.code_bias);
  a.v_cndmask_b32(s.tile_max, s.tile_max, s.reference, rows);
  a.v_add_f32(s.threshold, s.reference, s.threshold);
}

// The reference of `rows` moves by `distance`, which is 0 in the others. Of the
// tile, `weights` registers are weights already, the others scores.
void EmitExactReference(KernelState& s, SReg rows, VReg distance,
                        SReg careful_rows, const TileForm& form, int weights) {
  Assembler& a = s.a;
  a.v_add_f32(s.row_max, s.row_max, distance);
  a.v_sub_f32(s.tile_max, s.tile_max, distance);
  if (form.late) {
    a.Comment("late rows: their scores are raw, and so is the new reference");
    a.v_cmp_neq_f32(vcc, 0, s.late);
    a.v_cndmask_b32(distance, distance, 0, vcc);
    a.s_and_b64(vcc, vcc, rows);
    a.v_cndmask_b32(s.row_max, s.row_max, s.other_max, vcc);
    a.v_cndmask_b32(s.late, s.late, s.row_max, vcc);
  }
  EmitCarefulRows(s, careful_rows);
  a.v_cndmask_b32(s.next_late, 0, s.row_max, careful_rows);
  a.Comment("what the products of further tiles begin with");
  for (int i = 0; i < s.addend.count(); ++i) {
    a.v_sub_f32(s.addend[i], s.next_late, s.row_max);
  }
  a.Comment("this tile has the old reference");
  const VReg x = s.scores;
  for (int i = 0; i < x.count(); ++i) {
    if (i < weights) {
      a.v_mul_f32(x[i], s.factor, x[i]);
    } else {
      a.v_sub_f32(x[i], x[i], distance);
    }
  }
}

// Rows whose scores have a NaN: their sum becomes one, and so their output. But
// their codes must not be NaNs: the product that sums codes up has two rows in
// a column and multiplies the codes of the other one by 0.
void EmitNaNRows(KernelState& s, const TileForm& form, int weights) {
  Assembler& a = s.a;
  const Label none = a.NewLabel("no_nan");
  a.v_cmp_u_f32(vcc, s.tile_max, s.tile_max);
  a.s_cbranch_vccz(none);
  ScopedVReg value = a.vgprs().Scoped("value_of_nan_rows");
  a.v_mov_b32(value, Bits(kQuietNaN));
  a.v_cndmask_b32(s.row_sum, s.row_sum, value, vcc);
  a.v_mov_b32(value, 0);
  for (int i = 0; i < weights; ++i) {
    a.v_cndmask_b32(s.scores[i], s.scores[i], value, vcc);
  }
  a.v_mov_b32(value, MaskedScore(s.g));
  for (int i = weights; i < s.scores.count(); ++i) {
    a.v_cndmask_b32(s.scores[i], s.scores[i], value, vcc);
  }
  if (form.late) a.v_cndmask_b32(s.other_max, s.other_max, value, vcc);
  if (!s.g.lean) a.v_mov_b32(value, s.least_max);
  a.v_cndmask_b32(s.tile_max, s.tile_max, value, vcc);
  a.Bind(none);
}

}  // namespace

void EmitMove(KernelState& s, const TileForm& form, int weights, Label stay) {
  Assembler& a = s.a;
  ScopedVReg distance = a.vgprs().Scoped("move_distance");
  ScopedVReg value = a.vgprs().Scoped("moved_value");
  ScopedSReg rows = a.sgprs().Scoped("moving_rows", 2);
  ScopedSReg keyless = a.sgprs().Scoped("keyless_rows", 2);
  const Label moves = a.NewLabel("moves");
  const Label moved = a.NewLabel("moved");
  const Label later = a.NewLabel("later_tile");
  EmitNaNRows(s, form, weights);
  // Not where it gains nothing: 192/128 waits for the other waves then.
  if (weights == 0 && !s.g.narrow_part) {
    a.s_cmp_lg_u32(s.key_tile, 0);
    a.s_cbranch_scc1(later);
    a.Comment("the item's first tile: there is nothing to be scaled");
    a.v_mov_b32(value, LeastThreshold(s.g));
    a.v_cmp_gt_f32(rows, s.tile_max, value);
    a.v_cndmask_b32(s.threshold, value, 0, rows);
    if (!s.g.lean) a.v_cndmask_b32(distance, 0, s.tile_max, rows);
    a.s_branch(moved);
    a.Bind(later);
  }
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
  a.v_cndmask_b32(distance, 0, distance, rows);
  a.v_mul_f32(s.factor, s.unit_scale, distance);
  a.v_exp_f32(s.factor, -s.factor);
  a.Comment("0 times an infinity would be no number at a row's first key");
  a.v_min_f32(s.factor, Bits(0x7f7fffff), s.factor);
  a.v_mul_f32(s.row_sum, s.row_sum, s.factor);
  EmitThreshold(s);
  a.s_andn2_b64(keyless, keyless, rows);
  a.v_cndmask_b32(s.threshold, s.threshold, value, keyless);
  a.Bind(moved);
  ScopedSReg careful_rows = a.sgprs().Scoped("careful_rows", 2);
  if (s.g.lean) {
    EmitLeanReference(s, rows, careful_rows, form);
  } else {
    EmitExactReference(s, rows, distance, careful_rows, form, weights);
  }
  a.s_mov_b64(vcc, careful_rows);
}

void EmitScaleOutput(KernelState& s) {
  for (int i = 0; i < s.output_sum.count(); ++i) {
    s.a.v_mul_f32(s.output_sum[i], s.factor, s.output_sum[i]);
  }
}

void EmitTileExponent(KernelState& s, const TileForm& form) {
  Assembler& a = s.a;
  a.Comment("exponent of the tile's codes");
  VReg binades = s.exponent;
  if (s.g.lean) {
    a.v_fma_f32(s.exponent, s.unit_scale, s.tile_max, s.exponent_bias);
  } else if (form.multiply) {
    a.v_mul_f32(s.exponent, s.unit_scale, s.tile_max);
  } else {
    binades = s.tile_max;
  }
  if (!form.bounded) {
    a.v_max_f32(s.exponent, F32(kLeastExponent), binades);
    binades = s.exponent;
  }
  // Adding 1.5 * 2^23 rounds to the nearest integer and leaves it in the low
  // bits. Lean: nearly half a binade is in the bias, so that this rounds up.
  // Exact: there is room for half a binade more.
  a.v_add_f32(s.block_scale, F32(kRounder + kScaleBias), binades);
  if (s.g.lean) {
    a.v_add_f32(s.exponent, F32(-kRounder - kScaleBias), s.block_scale);
    a.v_fma_f32(s.tile_bias, s.exponent, s.minus_eight, s.code_bias);
  }
  a.v_lshlrev_b32(s.exponent, 23, s.block_scale);
}

namespace {

// A dword of four codes is written as two halves. Between the two there is
// another instruction: the forwarding of such partial writes is not complete
// (CDNA4 ISA, the note on conversions).
void EmitHalf(KernelState& s, VReg x, int piece, bool high) {
  Assembler& a = s.a;
  const VReg from = x.sub(4 * piece + (high ? 2 : 0), 2);
  if (s.g.lean) {
    auto&& pack = a.v_ashr_pk_u8_i32(x[piece], from[0], from[1], 8);
    if (high) pack.dst_high();
  } else {
    auto&& pack =
        a.v_cvt_scalef32_pk_fp8_f32(x[piece], from[0], from[1], s.exponent);
    if (high) pack.dst_high();
  }
}

void EmitWeights(KernelState& s, VReg x, const TileForm& form) {
  Assembler& a = s.a;
  for (int i = 0; i < x.count(); ++i) {
    if (form.late) a.v_sub_f32(x[i], x[i], s.late);
    if (s.g.lean) {
      a.v_fma_f32(x[i], x[i], s.code_scale, s.tile_bias);
    } else {
      if (form.multiply) a.v_mul_f32(x[i], s.unit_scale, x[i]);
      a.v_exp_f32(x[i], x[i]);
    }
  }
}

}  // namespace

Stream CaptureWeights(KernelState& s, const TileForm& form, int end) {
  return s.a.Capture([&] { EmitWeights(s, s.scores.sub(0, 4 * end), form); });
}

Stream CaptureCodes(KernelState& s, const TileForm& form, int weights) {
  const VReg x = s.scores;
  return s.a.Capture([&] {
    // The dword of a piece goes where scores of earlier pieces were; its high
    // half is written behind the next one's low half, which only takes the
    // place of what the high half before has read.
    for (int piece = 0; piece < kCodePieces; ++piece) {
      if (piece >= weights) EmitWeights(s, x.sub(4 * piece, 4), form);
      EmitHalf(s, x, piece, /*high=*/false);
      if (piece > 0) EmitHalf(s, x, piece - 1, /*high=*/true);
    }
    EmitHalf(s, x, kCodePieces - 1, /*high=*/true);
    if (!s.g.lean && form.late) s.a.v_mov_b32(s.late, s.next_late);
  });
}

void EmitSoftmaxStart(KernelState& s) {
  Assembler& a = s.a;
  a.v_mov_b32(s.row_max, 0);
  a.v_mov_b32(s.late, 0);
  a.v_mov_b32(s.row_sum, 0);
  a.Comment("of the tile before, which is none");
  a.v_mov_b32(s.code_sum[0], 0);
  a.v_mov_b32(s.exponent, 0);
  a.v_mov_b32(s.threshold, LeastThreshold(s.g));
  if (s.g.lean) {
    a.v_mov_b32(s.reference, 0);
    a.v_mov_b32(s.exponent_bias, F32(kRoundUp));
    a.v_mov_b32(s.code_bias, s.lean_top);
  } else {
    a.v_mov_b32(s.next_late, 0);
    for (int i = 0; i < s.addend.count(); ++i) a.v_mov_b32(s.addend[i], 0);
  }
}

}  // namespace zyfa::gen::fp8

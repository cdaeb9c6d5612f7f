#include "zyfa/gen/fp8/int8_softmax.h"

#include <bit>
#include <cstdint>
#include <optional>

#include "zyfa/gen/fp8/matrix_stream.h"

namespace zyfa::gen::fp8 {
namespace {

// Scores are below 2^21.6 * 255 = 2^29.6 in magnitude, C below 2^29.8. What a
// masked score is, which no C brings above 0 or below -2^31, and a number
// between it and all others.
constexpr uint32_t kMaskedScore = 0xb8000000;
constexpr uint32_t kLeastScore = 0xc0000000;
// The e8m0 byte of exponent 0, for codes times 2^-8, and that of the least
// exponent.
constexpr int kUnitScale = 127 - 8;
constexpr int kLeastScale = kUnitScale + kInt8LeastExponent;
// What the code of M is in the row's sum.
constexpr float kUnitWeight = 1.75f;
constexpr uint32_t kQuietNaN = 0x7fc00000;

constexpr Int8Rule kRule = {};
constexpr int kFirstFall = std::countr_zero(kRule.early_falls);
static_assert(kRule.early_falls == 1u << kFirstFall);

// Registers for what is done out of the line: in the multiplier form, where
// there are few, those of multipliers that have done their work.
class Temporaries {
 public:
  Temporaries(KernelState& s, int count) {
    if (s.g.multiply) {
      registers_ = s.multipliers;
    } else {
      own_.emplace(s.a.vgprs().Scoped("temporaries", count, 1));
      registers_ = *own_;
    }
  }
  VReg operator[](int i) const { return registers_[i]; }

 private:
  std::optional<ScopedVReg> own_;
  VReg registers_;
};

VReg Addends(const KernelState& s) { return s.g.multiply ? s.bias : s.addend; }

// units = C0.
void EmitTopUnits(KernelState& s, VReg units) {
  s.a.v_mov_b32(units, 253);
  s.a.v_lshlrev_b32(units, s.shift, units);
  s.a.v_lshrrev_b32(units, 1, units);
}

// distance = how far above M a score begins to weigh more than its share of
// the row, in units.
void EmitMoveDistance(KernelState& s, VReg distance) {
  Assembler& a = s.a;
  a.v_mul_f32(distance, F32(kRule.move_share / kUnitWeight), s.row_sum);
  a.v_log_f32(distance, distance);
  a.v_max_f32(distance, F32(static_cast<float>(kRule.least_distance)),
              distance);
  a.v_min_f32(distance, F32(static_cast<float>(kInt8LargestDistance)),
              distance);
  a.v_ldexp_f32(distance, distance, s.binade_shift);
  a.v_cvt_i32_f32(distance, distance);
}

// limit = min(what becomes code 126 at most, C0 - (e << b) + distance).
void EmitLimit(KernelState& s, VReg limit, VReg distance, VReg temporary) {
  Assembler& a = s.a;
  a.v_subrev_u32(temporary, kUnitScale, s.next_scale);
  a.v_lshlrev_b32(temporary, s.binade_shift, temporary);
  a.v_sub_u32(limit, distance, temporary);
  EmitTopUnits(s, temporary);
  a.v_add_u32(limit, temporary, limit);
  a.v_mov_b32(temporary, 127);
  a.v_lshlrev_b32(temporary, s.shift, temporary);
  a.v_add_u32(temporary, -1, temporary);
  a.v_min_i32(limit, temporary, limit);
}

// The first M, from the first tile's maximum, which is in tile_max, and the
// probe's, and what follows for further tiles. Rows that see no key have none,
// and keep their masked scores.
void EmitFirstReference(KernelState& s) {
  Assembler& a = s.a;
  const Temporaries t(s, 4);
  const VReg c = t[0], below = t[1], units = t[2], least = t[3];
  ScopedSReg rows = a.sgprs().Scoped("rows_with_keys", 2);
  a.v_mov_b32(least, Bits(kLeastScore));
  a.v_cmp_lt_i32(vcc, least, s.base_reference);
  a.v_cndmask_b32(below, s.tile_max, s.base_reference, vcc);
  a.v_cmp_lt_i32(rows, least, s.tile_max);
  a.v_max_i32(s.base_reference, s.tile_max, below);
  a.v_cndmask_b32(s.base_reference, 0, s.base_reference, rows);
  a.v_cndmask_b32(s.row_sum, 0, s.row_sum, rows);
  EmitTopUnits(s, c);
  a.v_sub_u32(c, c, s.base_reference);
  a.v_cndmask_b32(units, 0, c, rows);
  for (int i = 0; i < s.scores.count(); ++i) {
    a.v_add_u32(s.scores[i], units, s.scores[i]);
  }
  a.Comment("binades of the probe's maximum below M: e and its floor");
  a.v_sub_u32(below, s.base_reference, below);
  a.v_ashrrev_i32(below, s.binade_shift, below);
  a.v_cndmask_b32(below, 0, below, rows);
  a.v_sub_u32(s.next_scale, kUnitScale + kRule.start, below);
  a.v_max_i32(s.next_scale, kLeastScale, s.next_scale);
  a.v_sub_u32(s.lowest_scale, kUnitScale - kRule.floor, below);
  a.v_max_i32(s.lowest_scale, kLeastScale, s.lowest_scale);
  a.v_subrev_u32(units, kUnitScale, s.next_scale);
  a.v_lshlrev_b32(units, s.binade_shift, units);
  a.v_sub_u32(c, c, units);
  const VReg addends = Addends(s);
  for (int i = 0; i < addends.count(); ++i) a.v_mov_b32(addends[i], c);
  a.v_mov_b32(below, kRule.least_distance);
  a.v_lshlrev_b32(below, s.binade_shift, below);
  EmitLimit(s, s.limit, below, units);
  a.v_mov_b32(s.tile_max, Int8MaskedScore());
}

}  // namespace

void EmitOverBothLanes(KernelState& s, VReg value) {
  Assembler& a = s.a;
  ScopedVReg other = a.vgprs().Scoped("other_value");
  a.v_mov_b32(other, value);
  a.v_permlane32_swap_b32(value, other);
  a.v_max_i32(value, value, other);
}

Imm Int8MaskedScore() { return Bits(kMaskedScore); }

void EmitInt8Start(KernelState& s) {
  Assembler& a = s.a;
  ScopedVReg largest = a.vgprs().Scoped("largest_shift");
  a.Comment("rows with another shift become NaN, by their sum");
  a.v_mov_b32(largest, kInt8LargestShift);
  a.v_cmp_lt_u32(vcc, largest, s.next_shift);
  a.v_mov_b32(s.row_sum, Bits(kQuietNaN));
  a.v_cndmask_b32(s.row_sum, 0, s.row_sum, vcc);
  a.v_cndmask_b32(s.shift, s.next_shift, 0, vcc);
  a.v_add_u32(s.binade_shift, 3, s.shift);
  a.v_mov_b32(s.tile_max, Int8MaskedScore());
  a.Comment("below all numbers: there is a test for M in the first tile");
  a.v_bfrev_b32(s.limit, 1);
  a.v_mov_b32(s.next_scale, kUnitScale);
  a.v_mov_b32(s.block_scale, kUnitScale);
  if (s.g.multiply) a.v_mov_b32(s.bias, 0);
  a.Comment("of the tile before, which is none");
  for (int i = 0; i < s.code_sum.count(); ++i) a.v_mov_b32(s.code_sum[i], 0);
  a.s_mov_b32(s.fall_tile, kFirstFall);
  a.s_min_i32(s.plain_until, s.plain_tiles, s.fall_tile);
}

void EmitMultiplierRead(KernelState& s, int stage) {
  for (int q = 0; q < s.multipliers.count() / 4; ++q) {
    s.a.ds_read_b128(s.multipliers.sub(4 * q, 4), s.multiplier_read,
                     stage * Geometry::kMultiplierBytes + 256 * q);
  }
}

void EmitMultiply(KernelState& s, int block) {
  for (int i = 16 * block; i < 16 * (block + 1); ++i) {
    s.a.v_mad_i32_i24(s.scores[i], s.scores[i], s.multipliers[i], s.bias);
  }
}

void EmitInt8BlockMax(KernelState& s, int block) {
  Assembler& a = s.a;
  const VReg x = s.scores.sub(16 * block, 16);
  for (int i = 0; i < x.count(); i += 2) {
    a.v_max3_i32(s.tile_max, s.tile_max, x[i], x[i + 1]);
  }
}

void EmitInt8Tile(KernelState& s) {
  EmitRowSum(s);
  s.a.v_mov_b32(s.block_scale, s.next_scale);
  s.a.v_mov_b64(s.code_sum.sub(0, 2), 0);
}

void EmitInt8MoveTest(KernelState& s, Label move) {
  s.a.v_cmp_lt_i32(vcc, s.limit, s.tile_max);
  s.a.s_cbranch_vccnz(move);
}

void EmitInt8Move(KernelState& s, Label stay) {
  Assembler& a = s.a;
  const Label later = a.NewLabel("later_tile");
  const Label keep = a.NewLabel("output_kept");
  const Label unchanged = a.NewLabel("reference_unchanged");
  EmitOverBothLanes(s, s.tile_max);
  a.s_cmp_lg_u32(s.key_tile, 0);
  a.s_cbranch_scc1(later);
  EmitFirstReference(s);
  a.s_branch(stay);

  a.Bind(later);
  const Temporaries t(s, 6);
  const VReg above = t[0], distance = t[1], units = t[2], e = t[3], top = t[4],
             value = t[5];
  ScopedSReg rows = a.sgprs().Scoped("rows_beyond_limit", 2);
  ScopedSReg moving = a.sgprs().Scoped("moving_rows", 2);
  a.Comment("how far the maximum is above M; what would weigh much");
  a.v_cmp_lt_i32(rows, s.limit, s.tile_max);
  a.v_subrev_u32(e, kUnitScale, s.next_scale);
  a.v_lshlrev_b32(e, s.binade_shift, e);
  EmitTopUnits(s, above);
  a.v_sub_u32(above, s.tile_max, above);
  a.v_add_u32(above, above, e);
  EmitMoveDistance(s, distance);
  a.Comment("rise: binades that bring the maximum to code 126 at most");
  a.v_mov_b32(top, 127);
  a.v_lshlrev_b32(top, s.shift, top);
  a.v_cmp_le_i32(moving, top, s.tile_max);
  a.s_and_b64(moving, moving, rows);
  a.v_sub_u32(units, s.tile_max, top);
  a.v_ashrrev_i32(units, s.binade_shift, units);
  a.v_add_u32(units, 1 + kRule.overshoot, units);
  a.v_cndmask_b32(units, 0, units, moving);
  a.v_cmp_lt_i32(vcc, distance, above);
  a.s_and_b64(moving, vcc, rows);
  a.Comment("or, where it weighs much, it becomes M, with a new e");
  a.v_mov_b32(value, kUnitScale + kRule.start_of_move);
  a.v_add_u32(top, s.next_scale, units);
  a.v_cndmask_b32(s.next_scale, top, value, moving);
  a.v_lshlrev_b32(units, s.binade_shift, units);
  a.v_mov_b32(value, kRule.start_of_move);
  a.v_lshlrev_b32(value, s.binade_shift, value);
  a.v_sub_u32(value, value, e);
  a.v_add_u32(value, value, above);
  a.v_cndmask_b32(units, units, value, moving);
  a.v_mov_b32(value, kRule.least_distance);
  a.v_lshlrev_b32(value, s.binade_shift, value);
  a.v_cndmask_b32(distance, distance, value, moving);
  a.Comment("the limit may be old: nothing has to change");
  a.v_cmp_ne_u32(vcc, 0, units);
  a.s_cbranch_vccz(unchanged);
  for (int i = 0; i < s.scores.count(); ++i) {
    a.v_sub_i32(s.scores[i], s.scores[i], units).clamp();
  }
  const VReg addends = Addends(s);
  for (int i = 0; i < addends.count(); ++i) {
    a.v_sub_u32(addends[i], addends[i], units);
  }
  a.v_sub_u32(s.tile_max, s.tile_max, units);
  a.v_mov_b32(s.block_scale, s.next_scale);
  a.Bind(unchanged);
  EmitLimit(s, value, distance, units);
  a.v_cndmask_b32(s.limit, s.limit, value, rows);
  a.s_cmp_eq_u64(moving, 0);
  a.s_cbranch_scc1(keep);
  a.Comment("rows with a new M: their sums and outputs");
  a.v_cndmask_b32(above, 0, above, moving);
  a.v_add_u32(s.base_reference, s.base_reference, above);
  a.v_ashrrev_i32(value, s.binade_shift, above);
  a.v_sub_u32(s.lowest_scale, s.lowest_scale, value);
  a.v_max_i32(s.lowest_scale, kLeastScale, s.lowest_scale);
  a.v_cvt_f32_i32(value, above);
  a.v_sub_u32(units, 0, s.binade_shift);
  a.v_ldexp_f32(value, value, units);
  a.v_exp_f32(value, -value);
  a.v_mul_f32(s.row_sum, s.row_sum, value);
  for (int i = 0; i < s.output_sum.count(); ++i) {
    a.v_mul_f32(s.output_sum[i], value, s.output_sum[i]);
  }
  a.Bind(keep);
  a.s_branch(stay);
}

Stream CaptureInt8Codes(KernelState& s) {
  Assembler& a = s.a;
  const VReg x = s.scores;
  // Halves of dwords, in the order that softmax.cc has for those of FP8 scores.
  const auto pack = [&](int piece, bool high) {
    const VReg from = x.sub(4 * piece + (high ? 2 : 0), 2);
    auto&& half = a.v_ashr_pk_u8_i32(s.codes[piece], from[0], from[1], s.shift);
    if (high) half.dst_high();
  };
  return a.Capture([&] {
    const int pieces = x.count() / 4;
    for (int piece = 0; piece < pieces; ++piece) {
      pack(piece, /*high=*/false);
      if (piece > 0) pack(piece - 1, /*high=*/true);
    }
    pack(pieces - 1, /*high=*/true);
  });
}

void EmitInt8Fall(KernelState& s) {
  Assembler& a = s.a;
  // The scores are codes by now, in the first eight registers.
  const VReg binades = s.scores[16], most = s.scores[17], units = s.scores[18];
  ScopedSReg rows = a.sgprs().Scoped("falling_rows", 2);
  const Label none = a.NewLabel("none_falls");
  a.Comment("binades from the largest score since then to code 126");
  EmitOverBothLanes(s, s.tile_max);
  a.v_mov_b32(units, 127);
  a.v_lshlrev_b32(units, s.shift, units);
  a.v_sub_u32(most, s.next_scale, s.lowest_scale);
  a.v_add_u32(units, -1, units);
  a.v_max_i32(most, 0, most);
  a.v_sub_u32(binades, units, s.tile_max);
  a.v_ashrrev_i32(binades, s.binade_shift, binades);
  a.v_subrev_u32(binades, kRule.slack, binades);
  a.v_min_i32(binades, binades, most);
  a.Comment("not of rows that have seen none");
  a.v_mov_b32(units, Bits(kLeastScore));
  a.v_cmp_lt_i32(rows, units, s.tile_max);
  a.v_mov_b32(s.tile_max, Int8MaskedScore());
  a.v_cmp_lt_i32(vcc, 0, binades);
  a.s_and_b64(rows, rows, vcc);
  a.s_cbranch_scc0(none);
  a.v_cndmask_b32(binades, 0, binades, rows);
  a.v_sub_u32(s.next_scale, s.next_scale, binades);
  a.v_lshlrev_b32(binades, s.binade_shift, binades);
  const VReg addends = Addends(s);
  for (int i = 0; i < addends.count(); ++i) {
    a.v_add_u32(addends[i], addends[i], binades);
  }
  a.Bind(none);
  EmitMoveDistance(s, most);
  EmitLimit(s, s.limit, most, units);
  a.Comment("the next time");
  static_assert(std::has_single_bit(static_cast<uint32_t>(kRule.period)));
  a.s_add_u32(s.fall_tile, s.fall_tile, 1);
  a.s_or_b32(s.fall_tile, s.fall_tile, static_cast<int>(kRule.period - 1));
  a.s_min_i32(s.plain_until, s.plain_tiles, s.fall_tile);
}

}  // namespace zyfa::gen::fp8

#include "zyfa/gen/attention/softmax.h"

namespace zyfa::gen {
namespace {

constexpr uint32_t kMinusInfinity = 0xff800000;
constexpr uint32_t kMagnitude = 0x7fffffff;
// 2^12: below, c m is rounded by 2^-13 at most, so that probabilities before
// and after the reference moves agree to 2^-12 binades, far below a bf16
// rounding.
constexpr uint32_t kLargestScaledMax = 0x45800000;

// Key of score register r relative to its tile, for lane half 0.
int KeyOfRegister(int r) { return 8 * (r / 4) + r % 4; }

}  // namespace

void EmitMask(KernelState& s, int stage) {
  Assembler& a = s.a;
  const VReg scores = s.scores[stage];
  constexpr int kGroup = 8;
  ScopedVReg limit = a.vgprs().Scoped("tile_key_limit");
  ScopedVReg minus_infinity = a.vgprs().Scoped("minus_infinity");
  ScopedSReg first_key = a.sgprs().Scoped("first_key");
  ScopedSReg visible = a.sgprs().Scoped("visible", 2 * kGroup, 2);
  a.Comment("mask: keep key <= last visible key of the row");
  a.s_lshl_b32(first_key, s.key_tile, 6);
  a.v_subrev_u32(limit, first_key, s.key_limit);
  a.v_mov_b32(minus_infinity, Bits(kMinusInfinity));
  // In groups, so that each lane mask is a few instructions old when it is
  // used.
  for (int r = 0; r < scores.count(); r += kGroup) {
    for (int i = 0; i < kGroup; ++i) {
      a.v_cmp_le_i32(visible.sub(2 * i, 2), KeyOfRegister(r + i), limit);
    }
    for (int i = 0; i < kGroup; ++i) {
      a.v_cndmask_b32(scores[r + i], minus_infinity, scores[r + i],
                      visible.sub(2 * i, 2));
    }
  }
}

void EmitTileMax(KernelState& s, int stage) {
  const VReg largest = s.tile_max;
  Assembler& a = s.a;
  const VReg scores = s.scores[stage];
  a.Comment("row maximum of the tile");
  a.v_max3_f32(largest, scores[0], scores[1], scores[2]);
  for (int r = 3; r + 1 < scores.count(); r += 2) {
    a.v_max3_f32(largest, largest, scores[r], scores[r + 1]);
  }
  a.v_max_f32(largest, largest, scores[scores.count() - 1]);
  ScopedVReg other = a.vgprs().Scoped("other_half_max");
  a.v_mov_b32(other, largest);
  a.v_permlane32_swap_b32(largest, other);
  a.v_max_f32(largest, largest, other);
}

void EmitRescaleTest(KernelState& s, Label rescale) {
  s.a.v_cmp_gt_f32(vcc, s.tile_max, s.threshold);
  s.a.s_cbranch_vccnz(rescale);
}

void EmitRescale(KernelState& s, const Label* overflow) {
  Assembler& a = s.a;
  const VReg largest = s.tile_max;
  const SReg scale = s.Arg(offsetof(AttentionArgs, scale_log2e));
  const VReg factor = s.factor;
  ScopedVReg value = a.vgprs().Scoped("moved_value");
  a.Comment("move the reference of the rows in vcc");
  a.v_sub_f32(factor, s.row_max, largest);
  a.v_mul_f32(factor, scale, factor);
  a.v_exp_f32(factor, factor);
  a.v_cndmask_b32(s.row_max, s.row_max, largest, vcc);
  a.v_cndmask_b32(factor, F32(1.0f), factor, vcc);
  a.v_mul_f32(value, scale, largest);
  a.v_cndmask_b32(s.scaled_max, s.scaled_max, value, vcc);
  a.v_add_f32(value, s.Arg(offsetof(AttentionArgs, rescale_threshold)),
              largest);
  a.v_cndmask_b32(s.threshold, s.threshold, value, vcc);
  a.v_mul_f32(s.row_sum, s.row_sum, factor);
  if (overflow == nullptr) return;
  a.v_and_b32(value, Bits(kMagnitude), s.scaled_max);
  a.v_cmp_le_u32(vcc, Bits(kLargestScaledMax), value);
  a.s_cbranch_vccnz(*overflow);
}

void EmitRescaleOutput(KernelState& s) {
  for (int i = 0; i < s.output.count(); ++i) {
    s.a.v_mul_f32(s.output[i], s.factor, s.output[i]);
  }
}

void EmitCarefulRows(KernelState& s, SReg rows) {
  Assembler& a = s.a;
  ScopedVReg magnitude = a.vgprs().Scoped("magnitude");
  a.v_and_b32(magnitude, Bits(kMagnitude), s.scaled_max);
  a.v_cmp_le_u32(vcc, Bits(kLargestScaledMax), magnitude);
  a.s_mov_b64(rows, vcc);
}

namespace {

// 2^(c s - c m) of the piece's two scores, in place.
void EmitExponentials(KernelState& s, VReg p, const SReg* careful_rows) {
  Assembler& a = s.a;
  const SReg scale = s.Arg(offsetof(AttentionArgs, scale_log2e));
  ScopedVReg exact = a.vgprs().Scoped("exact_argument");
  for (int i = 0; i < p.count(); ++i) {
    if (careful_rows != nullptr) {
      a.v_sub_f32(exact, p[i], s.row_max);
      a.v_mul_f32(exact, scale, exact);
    }
    a.v_fma_f32(p[i], p[i], scale, -s.scaled_max);
    if (careful_rows != nullptr) {
      a.v_cndmask_b32(p[i], p[i], exact, *careful_rows);
    }
  }
  for (int i = 0; i < p.count(); ++i) a.v_exp_f32(p[i], p[i]);
}

void EmitSumAndPack(KernelState& s, VReg p, VReg packed, int piece) {
  Assembler& a = s.a;
  if (piece == 0) {
    a.v_add_f32(s.tile_sum, p[0], p[1]);
  } else {
    a.v_add_f32(s.tile_sum, s.tile_sum, p[0]);
    a.v_add_f32(s.tile_sum, s.tile_sum, p[1]);
  }
  a.v_cvt_pk_bf16_f32(packed, p[0], p[1]);
  if (piece == kProbabilityPieces - 1) {
    a.v_add_f32(s.row_sum, s.row_sum, s.tile_sum);
  }
}

}  // namespace

Stream CaptureProbabilities(KernelState& s, int stage, int begin, int end,
                            const SReg* careful_rows) {
  const VReg scores = s.scores[stage];
  const auto finish = [&](int piece) {
    EmitSumAndPack(s, scores.sub(2 * piece, 2),
                   scores[8 * (piece / 4) + piece % 4], piece);
  };
  // A piece is summed and packed behind the next one's exponentials, so that
  // nothing waits for the transcendental unit.
  return s.a.Capture([&] {
    for (int piece = begin; piece < end; ++piece) {
      EmitExponentials(s, scores.sub(2 * piece, 2), careful_rows);
      if (piece > begin) finish(piece - 1);
    }
    finish(end - 1);
  });
}

}  // namespace zyfa::gen

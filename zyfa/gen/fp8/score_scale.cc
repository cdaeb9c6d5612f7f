#include "zyfa/gen/fp8/score_scale.h"

#include "zyfa/gen/fp8/softmax.h"

namespace zyfa::gen::fp8 {
namespace {

constexpr float kLog2E = 1.44269504088896341f;
constexpr uint32_t kLeast = 0x26800000;     // 2^-50
constexpr uint32_t kGreatest = 0x5d800000;  // 2^60
// A unit of code is 2^8 units in the last place of a denormal, so that codes
// come with 8 fraction bits: 2^-141.
constexpr int kCodeUnit = -141;
constexpr uint32_t kOneCode = 1u << 8;                  // 2^-141
constexpr uint32_t kMinusEight = 0x80000000 | 8u << 8;  // -8 * 2^-141

// 2^n as float32, -126 <= n <= 127.
constexpr uint32_t PowerOfTwo(int n) {
  return static_cast<uint32_t>(127 + n) << 23;
}
static_assert(PowerOfTwo(-50) == kLeast && PowerOfTwo(60) == kGreatest);

}  // namespace

void EmitScaleConstants(KernelState& s) {
  Assembler& a = s.a;
  if (s.g.int8) a.v_mov_b32(s.score_scales, 127);
  if (!s.g.lean) return;
  a.Comment("codes as denormals: 256 units in the last place each");
  ScopedVReg top = a.vgprs().Scoped("lean_top_denormal");
  a.v_mov_b32(top, Bits(kOneCode));
  a.v_mul_f32(top, s.Control(offsetof(AttentionArgs, lean_top)), top);
  a.v_readfirstlane_b32(s.lean_top, top);
  a.s_mov_b32(s.minus_eight, Bits(kMinusEight));
  a.v_mov_b32(s.score_scales, Bits(127 | (127 - kLeanShift) << 8));
}

void EmitItemScales(KernelState& s, VReg descales) {
  Assembler& a = s.a;
  const ItemTable& t = s.table;
  if (s.g.int8) {
    a.v_mov_b32(t.value_descale, descales[2]);
    return;
  }
  ScopedVReg scale = a.vgprs().Scoped("score_scale");
  ScopedVReg value = a.vgprs().Scoped("scale_value");
  a.Section("Scales of the items");
  ScopedVReg exponent = a.vgprs().Scoped("scale_exponent");
  a.Comment("mantissas and exponents apart: no part of the product overflows");
  a.v_mov_b32(scale, F32(kLog2E));
  a.v_mov_b32(exponent, 0);
  const VSrc factors[] = {s.Control(offsetof(AttentionArgs, softmax_scale)),
                          descales[0], descales[1]};
  for (const VSrc& factor : factors) {
    a.v_frexp_mant_f32(value, factor);
    a.v_mul_f32(scale, value, scale);
    a.v_frexp_exp_i32_f32(value, factor);
    a.v_add_u32(exponent, value, exponent);
  }
  a.Comment("V's descale; a NaN if the product is one");
  a.v_cmp_eq_f32(vcc, scale, scale);
  a.v_cndmask_b32(t.value_descale, scale, descales[2], vcc);
  a.v_ashrrev_i32(t.negate, 31, scale);
  a.v_and_b32(t.negate, Bits(0x80808080), t.negate);
  a.v_and_b32(scale, Bits(0x7fffffff), scale);
  a.v_ldexp_f32(scale, scale, exponent);
  a.v_max_f32(scale, Bits(kLeast), scale);
  a.v_min_f32(scale, Bits(kGreatest), scale);
  if (s.g.lean) {
    a.v_mul_f32(t.code_scale, Bits(PowerOfTwo(kCodeUnit + 3 + kLeanShift)),
                scale);
    a.v_mul_f32(t.unit_scale, Bits(PowerOfTwo(kLeanShift)), scale);
    a.v_rcp_f32(t.inverse_unit, t.unit_scale);
    return;
  }
  a.Comment("scale = 2^n times unit_scale, which is at least 1 and below 2");
  a.v_frexp_exp_i32_f32(value, scale);
  a.v_add_u32(value, 126, value);
  a.v_lshlrev_b32(value, 8, value);
  a.v_or_b32(t.score_scales, 127, value);
  a.v_frexp_mant_f32(value, scale);
  a.v_add_f32(t.unit_scale, value, value);
  a.v_rcp_f32(t.inverse_unit, t.unit_scale);
  a.v_mul_f32(t.least_max, F32(kLeastExponent), t.inverse_unit);
}

}  // namespace zyfa::gen::fp8

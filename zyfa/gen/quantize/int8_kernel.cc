#include "zyfa/gen/quantize/int8_kernel.h"

#include <cstddef>
#include <cstdint>

#include "zyfa/gen/quantize/arguments.h"
#include "zyfa/gen/quantize/row_buffer.h"
#include "zyfa/gen/quantize/row_walk.h"
#include "zyfa/gen/quantize/scale.h"
#include "zyfa/variant/quantize_args.h"

namespace zyfa::gen {
namespace {

constexpr uint32_t kInfinity = 0x7f800000;
constexpr uint32_t kSign = 0x80000000;

// descale = that of `head`; in all lanes. `least` = 0, or if the descale is not
// in range more than the bits of every number: a row's magnitude is this at
// least, and so is not finite.
void EmitDescale(const Arguments& args, SReg head, VReg descale, VReg least) {
  Assembler& a = args.a;
  const SReg base = args.Get64(offsetof(QuantizeArgs, descale));
  ScopedSReg value = a.sgprs().Scoped("descale");
  args.EmitHeadBase(base, offsetof(QuantizeArgs, scale_batch_stride),
                    offsetof(QuantizeArgs, scale_head_stride), head);
  a.s_load_dword(value, base, 0);
  a.v_mov_b32(descale, value);
  EmitOutOfRange(a, descale);
  a.v_cndmask_b32(least, 0, -1, vcc);
}

// The row's largest magnitude, its bits; `good`: whether it means something.
void EmitRowMaximum(Assembler& a, RowWalk& walk, VReg maximum, VReg least,
                    SReg good) {
  walk.EmitMagnitude(maximum);
  EmitMaximumOf16(a, maximum);
  a.v_max_u32(maximum, maximum, least);
  a.v_cmp_gt_u32(vcc, Bits(kInfinity), maximum);
  a.s_mov_b64(good, vcc);
}

}  // namespace

void EmitKeysInt8(Assembler& a, int head_dim) {
  const Arguments args(a);
  const VReg units = a.vgprs().Alloc("units");
  const VReg shared = a.vgprs().Alloc("shared_multiplier");
  const VReg maximum = a.vgprs().Alloc("maximum");
  const VReg multiplier = a.vgprs().Alloc("multiplier");
  const VReg token = a.vgprs().Alloc("token_multiplier");
  const VReg least = a.vgprs().Alloc("least");
  const SReg good = a.sgprs().Alloc("good", 2);
  a.Section("Descale of this head");
  constexpr auto kMost = static_cast<float>(kQuantizeMostTokenMultiplier);
  EmitDescale(args, a.workgroup_id_x(), units, least);
  EmitQuotient(a, units, kMost, units);
  a.v_mul_f32(shared, F32(1.0f / kMost), units);
  RowWalk walk(args, head_dim, {Codes(head_dim), Tokens(4)});
  walk.EmitLoop([&](int part) {
    const Label one_step = a.NewLabel("one_step");
    walk.EmitSubtractMean();
    walk.EmitRotateRow();
    EmitRowMaximum(a, walk, maximum, least, good);
    a.v_mov_b32(multiplier, shared);
    args.EmitSkipUnless(kQuantizeTokenMultipliers, one_step);
    a.Comment("smallest multiplier with which the token's codes fit");
    a.v_mul_f32(token, maximum, units);
    a.v_mul_f32(token, F32(1.0f / kQuantizeInt8Largest), token);
    a.v_ceil_f32(token, token);
    a.v_max_f32(token, F32(1.0f), token);
    a.v_min_f32(token, F32(kMost), token);
    EmitQuotient(a, multiplier, 1.0f, token);
    a.v_mul_f32(multiplier, units, multiplier);
    a.v_cvt_u32_f32(token, token);
    a.v_cndmask_b32(token, 1, token, good);
    walk.EmitStoreOfRow(part, walk.written(1), token);
    a.Bind(one_step);
    walk.EmitStoreInt8Codes(part, walk.written(0), multiplier, good);
  });
  a.s_endpgm();
}

void EmitQueriesInt8(Assembler& a, int head_dim) {
  const Arguments args(a);
  const VReg g = a.vgprs().Alloc("g");
  const VReg power = a.vgprs().Alloc("power");
  const VReg maximum = a.vgprs().Alloc("maximum");
  const VReg exponent = a.vgprs().Alloc("exponent");
  const VReg mantissa = a.vgprs().Alloc("mantissa");
  const VReg product = a.vgprs().Alloc("product");
  const VReg shift = a.vgprs().Alloc("shift");
  const VReg factor = a.vgprs().Alloc("factor");
  const VReg number = a.vgprs().Alloc("number");
  const VReg least = a.vgprs().Alloc("least");
  const SReg good = a.sgprs().Alloc("good", 2);
  a.Section("Softmax scale and the keys' descale: g * 2^power");
  {
    ScopedSReg head = a.sgprs().Scoped("key_head");
    args.EmitKeyHead(head);
    EmitDescale(args, head, number, least);
  }
  a.v_frexp_mant_f32(g, number);
  a.v_mul_f32(g, args.Get(offsetof(QuantizeArgs, score_mantissa)), g);
  a.v_frexp_exp_i32_f32(power, number);
  a.v_add_u32(power, args.Get(offsetof(QuantizeArgs, score_exponent)), power);
  RowWalk walk(args, head_dim, {Codes(head_dim), LseCorrection(), Tokens(1)});
  walk.EmitLoop([&](int part) {
    walk.EmitCorrectLse(part, walk.written(1));
    walk.EmitRotateRow();
    EmitRowMaximum(a, walk, maximum, least, good);
    a.Comment("product * 2^shift: the largest magnitude times g");
    a.v_frexp_exp_i32_f32(exponent, maximum);
    a.v_frexp_mant_f32(mantissa, maximum);
    a.v_mul_f32(product, abs(g), mantissa);
    a.v_frexp_exp_i32_f32(shift, product);
    a.v_frexp_mant_f32(product, product);
    a.v_add_u32(factor, power, exponent);
    a.v_add_u32(shift, shift, factor);
    a.Comment("the largest shift that leaves 127.49 of it at most");
    a.v_cmp_ge_f32(vcc, F32(kQuantizeInt8QueryLargest / 128), product);
    a.v_mov_b32(number, 6);
    a.v_addc_co_u32(number, vcc, 0, number, vcc);
    a.v_sub_u32(shift, number, shift);
    a.v_min_i32(shift, kQuantizeMostShift, shift);
    a.v_add_u32(factor, factor, shift);
    a.v_ldexp_f32(factor, g, factor);
    a.Comment("none: 127 of the largest magnitude");
    EmitQuotient(a, number, kQuantizeInt8Largest, mantissa);
    a.v_and_b32(mantissa, Bits(kSign), g);
    a.v_or_b32(number, mantissa, number);
    a.v_cmp_gt_i32(vcc, 0, shift);
    a.v_cndmask_b32(factor, factor, number, vcc);
    a.v_max_i32(shift, 0, shift);
    a.Comment("nothing to score, and numbers that are none");
    a.v_cmp_eq_f32(vcc, 0, product);
    a.v_mov_b32(number, kQuantizeMostShift);
    a.v_cndmask_b32(shift, shift, number, vcc);
    a.v_mov_b32(number, 0);
    a.v_cndmask_b32(factor, factor, number, vcc);
    a.v_mov_b32(number, kQuantizeBadShift);
    a.v_cndmask_b32(shift, number, shift, good);
    walk.EmitStoreOfRow(part, walk.written(2), shift);
    a.v_sub_u32(exponent, 0, exponent);
    for (int i = 0; i < walk.x().count(); ++i) {
      a.v_ldexp_f32(walk.x()[i], walk.x()[i], exponent);
    }
    walk.EmitStoreInt8Codes(part, walk.written(0), factor, good);
  });
  a.s_endpgm();
}

}  // namespace zyfa::gen

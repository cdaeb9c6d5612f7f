#include "zyfa/gen/quantize/scale.h"

#include <bit>
#include <cstdint>

namespace zyfa::gen {
namespace {

constexpr float kLargest = 448.0f;
constexpr uint32_t kExponent = 0x7f800000;
constexpr uint32_t kMantissa = 0x007fffff;
constexpr uint32_t kOne = 0x3f800000;
constexpr uint32_t kNan = 0x7fc00000;

// x = `of_zero` where the maximum is 0, NaN where it is not finite.
void EmitEdges(Assembler& a, VReg x, VReg maximum, VSrc of_zero) {
  ScopedVReg other = a.vgprs().Scoped("edge_value");
  a.v_cmp_eq_u32(vcc, 0, maximum);
  a.v_mov_b32(other, of_zero);
  a.v_cndmask_b32(x, x, other, vcc);
  a.v_cmp_le_u32(vcc, kExponent, maximum);
  a.v_mov_b32(other, kNan);
  a.v_cndmask_b32(x, x, other, vcc);
}

// Scales stay normal numbers.
void EmitInRange(Assembler& a, VReg x, VReg maximum) {
  a.v_max_u32(x, Bits(std::bit_cast<uint32_t>(kQuantizeSmallestMaximum)),
              maximum);
}

}  // namespace

void EmitScale(const Arguments& args, VReg descale, VReg multiplier,
               VReg maximum) {
  Assembler& a = args.a;
  const SReg unit = args.Get(offsetof(QuantizeArgs, unit));
  const SReg inverse_unit = args.Get(offsetof(QuantizeArgs, inverse_unit));
  ScopedVReg x = a.vgprs().Scoped("maximum_in_range");
  const Label full = a.NewLabel("full_scale");
  const Label edges = a.NewLabel("scale_edges");
  EmitInRange(a, x, maximum);
  args.EmitSkipUnless(kQuantizeUnit, full);
  {
    ScopedVReg n = a.vgprs().Scoped("power_of_two");
    a.Comment("smallest n with maximum <= 448 * unit * 2^n, in place");
    a.v_add_u32(n, args.Get(offsetof(QuantizeArgs, ceiling)), x);
    a.v_ashrrev_i32(n, 23, n);
    a.v_lshlrev_b32(n, 23, n);
    a.v_add_u32(descale, unit, n);
    a.v_sub_u32(multiplier, inverse_unit, n);
  }
  a.s_branch(edges);
  a.Bind(full);
  EmitQuotient(a, multiplier, kLargest, x);
  a.v_mul_f32(descale, F32(1.0f / kLargest), x);
  a.Bind(edges);
  EmitEdges(a, descale, maximum, unit);
  EmitEdges(a, multiplier, maximum, inverse_unit);
}

void EmitInt8Descale(Assembler& a, VReg descale, VReg maximum) {
  EmitInRange(a, descale, maximum);
  a.v_mul_f32(descale, F32(1.0f / kQuantizeInt8Largest), descale);
  EmitEdges(a, descale, maximum, F32(1.0f));
}

void EmitOutOfRange(Assembler& a, VReg descale) {
  const auto smallest = std::bit_cast<uint32_t>(kQuantizeSmallestDescale);
  const auto limit = std::bit_cast<uint32_t>(kQuantizeDescaleLimit);
  ScopedVReg above = a.vgprs().Scoped("above_smallest");
  a.v_subrev_u32(above, Bits(smallest), descale);
  a.v_cmp_le_u32(vcc, Bits(limit - smallest), above);
}

void EmitGivenMultiplier(Assembler& a, VReg multiplier, VReg descale) {
  ScopedVReg nan = a.vgprs().Scoped("nan");
  a.v_mul_f32(multiplier, F32(kQuantizeReciprocalFactor), descale);
  EmitQuotient(a, multiplier, kQuantizeReciprocalFactor, multiplier);
  EmitOutOfRange(a, descale);
  a.v_mov_b32(nan, kNan);
  a.v_cndmask_b32(multiplier, multiplier, nan, vcc);
}

void EmitQuotient(Assembler& a, VReg quotient, float numerator, VReg x) {
  ScopedVReg m = a.vgprs().Scoped("divisor");
  ScopedVReg r = a.vgprs().Scoped("reciprocal");
  ScopedVReg t = a.vgprs().Scoped("remainder");
  ScopedVReg n = a.vgprs().Scoped("numerator");
  ScopedVReg exponent = a.vgprs().Scoped("divisor_exponent");
  a.v_and_b32(exponent, kExponent, x);
  a.v_and_b32(m, kMantissa, x);
  a.v_or_b32(m, kOne, m);
  a.v_mov_b32(n, F32(numerator));
  a.v_rcp_f32(r, m);
  a.v_fma_f32(t, -m, r, F32(1.0f));
  a.v_fma_f32(r, t, r, r);
  a.v_mul_f32(quotient, n, r);
  a.v_fma_f32(t, -m, quotient, n);
  a.v_fma_f32(quotient, t, r, quotient);
  a.Comment("by the power of two of x");
  a.v_sub_u32(quotient, quotient, exponent);
  a.v_add_u32(quotient, kOne, quotient);
}

void EmitMaximumOf16(Assembler& a, VReg x) {
  for (const Dpp& dpp : {Dpp::QuadPerm(1, 0, 3, 2), Dpp::QuadPerm(2, 3, 0, 1),
                         Dpp::RowHalfMirror(), Dpp::RowMirror()}) {
    a.v_max_u32_dpp(x, x, x, dpp);
  }
}

}  // namespace zyfa::gen

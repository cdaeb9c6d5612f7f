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

// descale = maximum / 448, multiplier = 448 / maximum.
void EmitFullScale(Assembler& a, VReg descale, VReg multiplier, VReg maximum) {
  ScopedVReg m = a.vgprs().Scoped("mantissa");
  ScopedVReg r = a.vgprs().Scoped("reciprocal");
  ScopedVReg t = a.vgprs().Scoped("remainder");
  ScopedVReg largest = a.vgprs().Scoped("448");
  a.v_and_b32(m, kMantissa, maximum);
  a.v_or_b32(m, kOne, m);
  a.v_mov_b32(largest, F32(kLargest));
  a.v_rcp_f32(r, m);
  a.v_fma_f32(t, -m, r, F32(1.0f));
  a.v_fma_f32(r, t, r, r);
  a.v_mul_f32(multiplier, largest, r);
  a.v_fma_f32(t, -m, multiplier, largest);
  a.v_fma_f32(multiplier, t, r, multiplier);
  a.Comment("by the power of two of the maximum");
  a.v_and_b32(t, kExponent, maximum);
  a.v_sub_u32(multiplier, multiplier, t);
  a.v_add_u32(multiplier, kOne, multiplier);
  a.v_mul_f32(descale, F32(1.0f / kLargest), maximum);
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
  a.v_max_u32(x, Bits(std::bit_cast<uint32_t>(kQuantizeSmallestMaximum)),
              maximum);
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
  EmitFullScale(a, descale, multiplier, x);
  a.Bind(edges);
  ScopedVReg other = a.vgprs().Scoped("edge_value");
  a.Comment("all zero");
  a.v_cmp_eq_u32(vcc, 0, maximum);
  a.v_mov_b32(other, unit);
  a.v_cndmask_b32(descale, descale, other, vcc);
  a.v_mov_b32(other, inverse_unit);
  a.v_cndmask_b32(multiplier, multiplier, other, vcc);
  a.Comment("not finite");
  a.v_mov_b32(other, kNan);
  a.v_cmp_le_u32(vcc, kExponent, maximum);
  a.v_cndmask_b32(descale, descale, other, vcc);
  a.v_cndmask_b32(multiplier, multiplier, other, vcc);
}

void EmitMaximumOf16(Assembler& a, VReg x) {
  for (const Dpp& dpp : {Dpp::QuadPerm(1, 0, 3, 2), Dpp::QuadPerm(2, 3, 0, 1),
                         Dpp::RowHalfMirror(), Dpp::RowMirror()}) {
    a.v_max_u32_dpp(x, x, x, dpp);
  }
}

}  // namespace zyfa::gen

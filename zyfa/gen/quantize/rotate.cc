#include "zyfa/gen/quantize/rotate.h"

#include <cmath>
#include <utility>

namespace zyfa::gen {

void EmitRotateSigns(Assembler& a, VReg signs, VReg lane16) {
  for (int bit = 0; bit < 4; ++bit) {
    a.v_lshrrev_b32(signs[bit], bit, lane16);
    a.v_lshlrev_b32(signs[bit], 31, signs[bit]);
  }
  a.v_xor_b32(signs[4], signs[0], signs[1]);
  a.v_xor_b32(signs[4], signs[2], signs[4]);
  a.v_xor_b32(signs[4], signs[3], signs[4]);
  for (int i = 0; i < kRotateSigns; ++i) {
    a.v_or_b32(signs[i], Bits(0x3f800000), signs[i]);
  }
}

void EmitRotate(Assembler& a, VReg x, VReg scratch, VReg signs) {
  const int n = x.count();
  VReg from = x;
  VReg to = scratch;
  for (int h = 1; h < n; h *= 2) {
    for (int i = 0; i < n; ++i) {
      if ((i & h) == 0) {
        a.v_add_f32(to[i], from[i], from[i + h]);
      } else {
        a.v_sub_f32(to[i], from[i - h], from[i]);
      }
    }
    std::swap(from, to);
  }
  // Lane l and lane l ^ h: the one with bit h takes what it has minus the
  // other's, which is minus the difference that is meant.
  for (int bit = 0; bit < 4; ++bit) {
    if (bit == 2) {
      // l ^ 7, and ^ 3 of that.
      for (int i = 0; i < n; ++i) {
        a.v_mov_b32_dpp(to[i], from[i], Dpp::RowHalfMirror());
      }
    }
    for (int i = 0; i < n; ++i) {
      switch (bit) {
        case 0:
          a.v_fmac_f32_dpp(from[i], from[i], signs[bit],
                           Dpp::QuadPerm(1, 0, 3, 2));
          break;
        case 1:
          a.v_fmac_f32_dpp(from[i], from[i], signs[bit],
                           Dpp::QuadPerm(2, 3, 0, 1));
          break;
        case 2:
          a.v_fmac_f32_dpp(from[i], to[i], signs[bit],
                           Dpp::QuadPerm(3, 2, 1, 0));
          break;
        default:
          a.v_fmac_f32_dpp(from[i], from[i], signs[bit], Dpp::RowRor(8));
      }
    }
  }
  const float norm = static_cast<float>(1 / std::sqrt(16.0 * n));
  a.v_mul_f32(to[0], F32(norm), signs[4]);
  const VReg signed_norm = to[0];
  for (int i = n - 1; i >= 0; --i) {
    a.v_mul_f32(x[i], signed_norm, from[i]);
  }
}

}  // namespace zyfa::gen

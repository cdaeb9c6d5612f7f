#include "zyfa/gen/quantize/rotate.h"

#include <cmath>
#include <utility>

namespace zyfa::gen {

void EmitRotateSigns(Assembler& a, VReg signs, VReg lane16) {
  for (int bit = 0; bit < 4; ++bit) {
    a.v_lshrrev_b32(signs[bit], bit, lane16);
    a.v_lshlrev_b32(signs[bit], 31, signs[bit]);
  }
}

void EmitRotate(Assembler& a, VReg x, VReg scratch, VReg signs) {
  const int n = x.count();
  VReg from = x;
  VReg to = scratch.sub(0, n);
  const VReg mirrored = scratch.sub(n, n);
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
  // Lane l and lane l ^ h: the one with bit h takes the difference.
  for (int bit = 0; bit < 4; ++bit) {
    for (int i = 0; i < n; ++i) a.v_xor_b32(to[i], signs[bit], from[i]);
    if (bit == 2) {
      // l ^ 7, and ^ 3 of that.
      for (int i = 0; i < n; ++i) {
        a.v_mov_b32_dpp(mirrored[i], from[i], Dpp::RowHalfMirror());
      }
    }
    for (int i = 0; i < n; ++i) {
      switch (bit) {
        case 0:
          a.v_add_f32_dpp(to[i], from[i], to[i], Dpp::QuadPerm(1, 0, 3, 2));
          break;
        case 1:
          a.v_add_f32_dpp(to[i], from[i], to[i], Dpp::QuadPerm(2, 3, 0, 1));
          break;
        case 2:
          a.v_add_f32_dpp(to[i], mirrored[i], to[i], Dpp::QuadPerm(3, 2, 1, 0));
          break;
        default:
          a.v_add_f32_dpp(to[i], from[i], to[i], Dpp::RowRor(8));
      }
    }
    std::swap(from, to);
  }
  const float norm = static_cast<float>(1 / std::sqrt(16.0 * n));
  for (int i = 0; i < n; ++i) a.v_mul_f32(x[i], F32(norm), from[i]);
}

}  // namespace zyfa::gen

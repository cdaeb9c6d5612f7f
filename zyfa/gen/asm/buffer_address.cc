#include "zyfa/gen/asm/buffer_address.h"

namespace zyfa::gen {

void EmitAddProduct(Assembler& a, SReg base, SReg index, SReg stride) {
  ScopedSReg product = a.sgprs().Scoped("product", 2);
  a.s_mul_i32(product[0], index, stride[0]);
  a.s_mul_hi_u32(product[1], index, stride[0]);
  if (stride.count() == 2) {
    ScopedSReg high = a.sgprs().Scoped("product_high");
    a.s_mul_i32(high, index, stride[1]);
    a.s_add_u32(product[1], product[1], high);
  }
  a.s_add_u32(base[0], base[0], product[0]);
  a.s_addc_u32(base[1], base[1], product[1]);
}

void EmitAddProduct(Assembler& a, VReg base, VReg index, SReg stride) {
  a.v_mad_u64_u32(base, vcc, index, stride[0], base);
  if (stride.count() == 2) {
    ScopedVReg high = a.vgprs().Scoped("product_high");
    a.v_mul_lo_u32(high, index, stride[1]);
    a.v_add_u32(base[1], high, base[1]);
  }
}

}  // namespace zyfa::gen

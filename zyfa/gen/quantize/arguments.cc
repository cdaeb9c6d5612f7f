#include "zyfa/gen/quantize/arguments.h"

#include <bit>

#include "zyfa/gen/asm/buffer_address.h"

namespace zyfa::gen {

Arguments::Arguments(Assembler& assembler) : a(assembler) {
  constexpr int kDwords = sizeof(QuantizeArgs) / 4;
  static_assert(kDwords == 64);
  a.Section("Arguments");
  regs_ = a.sgprs().Alloc("arguments", kDwords, 4);
  const SReg kernarg = a.kernarg();
  for (int i = 0; i < kDwords; i += 16) {
    a.s_load_dwordx16(regs_.sub(i, 16), kernarg, 4 * i);
  }
  thread = a.vgprs().Alloc("thread");
  a.v_and_b32(thread, 0x3ff, a.workitem_id());
}

void Arguments::EmitSkipUnless(QuantizeFlags flag, Label label) const {
  a.s_bitcmp1_b32(Get(offsetof(QuantizeArgs, flags)),
                  std::countr_zero(static_cast<uint32_t>(flag)));
  a.s_cbranch_scc0(label);
}

void Arguments::EmitHeadBase(SReg base, size_t batch_stride,
                             size_t head_stride) const {
  EmitHeadBase(base, batch_stride, head_stride, a.workgroup_id_x());
}

void Arguments::EmitHeadBase(SReg base, size_t batch_stride, size_t head_stride,
                             SReg head) const {
  EmitAddProduct(a, base, a.workgroup_id_z(), Get64(batch_stride));
  EmitAddProduct(a, base, head, Get64(head_stride));
}

void Arguments::EmitKeyHead(SReg head) const {
  const SReg multiplier = Get(offsetof(QuantizeArgs, kv_head_multiplier));
  a.s_mul_hi_u32(head, a.workgroup_id_x(), multiplier);
  a.s_cmp_eq_u32(multiplier, 0);
  a.s_cselect_b32(head, a.workgroup_id_x(), head);
}

void EmitDescriptor(Assembler& a, SReg desc, SReg base, SSrc bytes) {
  a.s_mov_b32(desc[0], base[0]);
  a.s_and_b32(desc[1], base[1], 0xffff);
  a.s_mov_b32(desc[2], bytes);
  a.s_mov_b32(desc[3], kBufferFormat);
}

}  // namespace zyfa::gen

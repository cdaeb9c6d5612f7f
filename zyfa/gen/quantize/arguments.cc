#include "zyfa/gen/quantize/arguments.h"

#include <bit>

#include "zyfa/gen/asm/buffer_address.h"

namespace zyfa::gen {

Arguments::Arguments(Assembler& assembler) : a(assembler) {
  constexpr int kDwords = sizeof(QuantizeArgs) / 4;
  static_assert(kDwords == 56);
  a.Section("Arguments");
  regs_ = a.sgprs().Alloc("arguments", kDwords, 4);
  const SReg kernarg = a.kernarg();
  for (int i = 0; i < 48; i += 16) {
    a.s_load_dwordx16(regs_.sub(i, 16), kernarg, 4 * i);
  }
  a.s_load_dwordx8(regs_.sub(48, 8), kernarg, 4 * 48);
  thread = a.vgprs().Alloc("thread");
  a.v_and_b32(thread, 0x3ff, a.workitem_id());
}

void Arguments::EmitSkipUnless(QuantizeFlags flag, Label label) const {
  a.s_bitcmp1_b32(Get(offsetof(QuantizeArgs, flags)),
                  std::countr_zero(static_cast<uint32_t>(flag)));
  a.s_cbranch_scc0(label);
}

void EmitDescriptor(Assembler& a, SReg desc, SReg base, SSrc bytes) {
  a.s_mov_b32(desc[0], base[0]);
  a.s_and_b32(desc[1], base[1], 0xffff);
  a.s_mov_b32(desc[2], bytes);
  a.s_mov_b32(desc[3], kBufferFormat);
}

}  // namespace zyfa::gen

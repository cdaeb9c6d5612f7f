#ifndef ZYFA_GEN_QUANTIZE_ARGUMENTS_H_
#define ZYFA_GEN_QUANTIZE_ARGUMENTS_H_

#include <cstddef>

#include "zyfa/gen/asm/assembler.h"
#include "zyfa/variant/quantize_args.h"

namespace zyfa::gen {

// QuantizeArgs in scalar registers, and where the work-item is.
class Arguments {
 public:
  explicit Arguments(Assembler& assembler);

  // Registers of the field at `offset`.
  SReg Get(size_t offset) const { return regs_[static_cast<int>(offset / 4)]; }
  SReg Get64(size_t offset) const {
    return regs_.sub(static_cast<int>(offset / 4), 2);
  }
  // Goes to `label` if the flag is not set.
  void EmitSkipUnless(QuantizeFlags flag, Label label) const;
  // base of this batch entry and this head, or `head`; strides are fields.
  void EmitHeadBase(SReg base, size_t batch_stride, size_t head_stride) const;
  void EmitHeadBase(SReg base, size_t batch_stride, size_t head_stride,
                    SReg head) const;
  // The keys' head of this query's head.
  void EmitKeyHead(SReg head) const;

  Assembler& a;
  VReg thread;  // number in the work-group

 private:
  SReg regs_;
};

// A raw buffer of `bytes` (a register or a constant) at `base`.
void EmitDescriptor(Assembler& a, SReg desc, SReg base, SSrc bytes);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_QUANTIZE_ARGUMENTS_H_

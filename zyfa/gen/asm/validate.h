#ifndef ZYFA_GEN_ASM_VALIDATE_H_
#define ZYFA_GEN_ASM_VALIDATE_H_

#include <string>

#include "zyfa/gen/asm/instruction.h"
#include "zyfa/gen/asm/kernel_spec.h"

namespace zyfa::gen {

// The first rule of gfx950 that the instruction breaks, in words, or "". Looks
// at one instruction alone: operand classes, tuple sizes and alignment,
// register and constant limits, modifiers. Sources: CDNA4 ISA 3.6, 6, 7, 9;
// LLVM 22 MC.
std::string InstructionProblem(const Instruction& inst, const KernelSpec& spec);

// Likewise for the kernel as a whole.
std::string KernelSpecProblem(const KernelSpec& spec);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_VALIDATE_H_

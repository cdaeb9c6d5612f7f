#ifndef ZYFA_EMU_SCALAR_ALU_H_
#define ZYFA_EMU_SCALAR_ALU_H_

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// Scalar arithmetic, logic, comparison and moves (SOP1, SOP2, SOPC and the
// arithmetic of SOPK). nullptr if the instruction is none of these. Float
// constants among the operands become the bits of the operand's width.
Handler FindScalarAluHandler(Instruction& inst);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_SCALAR_ALU_H_

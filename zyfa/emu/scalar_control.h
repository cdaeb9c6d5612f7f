#ifndef ZYFA_EMU_SCALAR_CONTROL_H_
#define ZYFA_EMU_SCALAR_CONTROL_H_

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// Branches, waits, barrier, end of program, hardware registers, hints. nullptr
// if the instruction is none of these.
Handler FindScalarControlHandler(Instruction& inst);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_SCALAR_CONTROL_H_

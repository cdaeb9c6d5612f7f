#ifndef ZYFA_EMU_SCALAR_MEMORY_H_
#define ZYFA_EMU_SCALAR_MEMORY_H_

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// Scalar loads, cache control and clocks. nullptr if the instruction is none of
// these.
Handler FindScalarMemoryHandler(Instruction& inst);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_SCALAR_MEMORY_H_

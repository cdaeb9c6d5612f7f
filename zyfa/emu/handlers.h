#ifndef ZYFA_EMU_HANDLERS_H_
#define ZYFA_EMU_HANDLERS_H_

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// The handler of a decoded instruction, or nullptr if it is not emulated. May
// prepare `inst` for it.
Handler FindHandler(Instruction& inst);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_HANDLERS_H_

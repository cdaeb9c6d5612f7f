#ifndef ZYFA_EMU_HANDLERS_H_
#define ZYFA_EMU_HANDLERS_H_

#include <optional>

#include "zyfa/emu/instruction.h"
#include "zyfa/emu/semantics.h"

namespace zyfa::emu {

// The handler of a decoded instruction, or nullptr if it is not emulated. May
// prepare `inst` for it.
Handler FindHandler(Instruction& inst);

// What is declared about the handler of `inst`; nothing if it has none.
std::optional<Semantics> FindSemantics(Instruction& inst);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_HANDLERS_H_

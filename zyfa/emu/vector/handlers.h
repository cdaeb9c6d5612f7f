#ifndef ZYFA_EMU_VECTOR_HANDLERS_H_
#define ZYFA_EMU_VECTOR_HANDLERS_H_

#include <string>
#include <vector>

#include "zyfa/emu/instruction.h"
#include "zyfa/emu/semantics.h"

namespace zyfa::emu {

// Semantics of every instruction whose mnemonic begins with "v_": vector
// arithmetic, comparison, conversion, lane exchange and matrix instructions.
//
// Returns nullptr if the mnemonic, an operand kind or a combination of
// modifiers has no defined meaning here. Prepares `inst`: float constants
// become the bits of their operand's type, and `inst.aux` belongs to the
// handler afterwards. Calling it again on the same instruction gives the same
// handler.
//
// A handler reads EXEC and MODE of the wave, writes the lanes that EXEC enables
// (matrix and lane-select instructions: all of theirs), and all its sources are
// read before any destination is written.
Handler FindVectorHandler(Instruction& inst);

// What is declared about a mnemonic; nullptr if it has no handler.
const Semantics* FindVectorSemantics(const std::string& mnemonic);

// All mnemonics with a handler.
std::vector<std::string> VectorMnemonics();

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_VECTOR_HANDLERS_H_

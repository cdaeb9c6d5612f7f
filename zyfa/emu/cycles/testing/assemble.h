#ifndef ZYFA_EMU_CYCLES_TESTING_ASSEMBLE_H_
#define ZYFA_EMU_CYCLES_TESTING_ASSEMBLE_H_

#include <string>
#include <vector>

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// gfx950 assembly lines, one instruction each and without labels, as the
// decoder gives them back from their machine code, at consecutive addresses
// from 0 on. Branches name their distance in dwords. Ends the process with the
// assembler's message if a line is wrong.
std::vector<Instruction> Assemble(const std::vector<std::string>& lines);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_TESTING_ASSEMBLE_H_

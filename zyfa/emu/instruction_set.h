#ifndef ZYFA_EMU_INSTRUCTION_SET_H_
#define ZYFA_EMU_INSTRUCTION_SET_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// Every mnemonic (without _e32, _e64, _dpp, _sdwa) of gfx950 with examples of
// it: all opcodes of all encodings (ISA 13) are offered to LLVM's disassembler
// with a few patterns of operands, so that nothing is listed by hand. Errors of
// Decoder::Create.
absl::StatusOr<std::map<std::string, std::vector<Instruction>>>
EnumerateInstructionSet();

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_INSTRUCTION_SET_H_

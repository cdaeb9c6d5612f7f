#ifndef ZYFA_EMU_DISASSEMBLY_TEXT_H_
#define ZYFA_EMU_DISASSEMBLY_TEXT_H_

#include <cstdint>
#include <string>

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// Fills `inst.mnemonic`, `e64`, `operands` and `mods` from `inst.text`, one
// line as LLVM's instruction printer writes it for gfx950. `word` is the first
// dword of the encoding: the 16-bit immediate of scalar SOPK and SOPP
// instructions is taken from there, because the printer writes it symbolically
// (hwreg(...), vmcnt(...)), and so is the pattern of ds_swizzle.
//
// True if every word of the text is known; with false the instruction must not
// be executed.
bool ParseDisassembly(uint32_t word, Instruction& inst);

// The class that a mnemonic counts for.
InstructionClass ClassOf(const std::string& mnemonic);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_DISASSEMBLY_TEXT_H_

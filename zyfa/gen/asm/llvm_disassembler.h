#ifndef ZYFA_GEN_ASM_LLVM_DISASSEMBLER_H_
#define ZYFA_GEN_ASM_LLVM_DISASSEMBLER_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace zyfa::gen {

// One machine instruction as LLVM's MC library knows it, for tests.
struct LlvmInstruction {
  std::string text;         // as LLVM prints it
  std::string opcode_name;  // LLVM's own, which tells the encoding
  int bytes = 0;
  // Registers as in instruction.h, explicit and implicit, tied ones read too.
  // MODE is left out: LLVM knows it only for some instructions.
  std::set<int> reads, writes;
};

// The .text of a gfx950 ELF file.
absl::StatusOr<std::vector<LlvmInstruction>> DisassembleFile(
    const std::string& path);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_LLVM_DISASSEMBLER_H_

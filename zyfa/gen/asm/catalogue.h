#ifndef ZYFA_GEN_ASM_CATALOGUE_H_
#define ZYFA_GEN_ASM_CATALOGUE_H_

#include <string>

#include "absl/status/statusor.h"
#include "zyfa/gen/asm/instruction.h"

namespace zyfa::gen {

// Every instruction of opcodes.inc in every form that the assembler prints:
// operand classes, encodings, modifiers. For comparison with LLVM, not to be
// run.
struct Catalogue {
  Stream stream;
  std::string text;  // assembles for gfx950, one instruction a line
};

absl::StatusOr<Catalogue> BuildCatalogue();

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_CATALOGUE_H_

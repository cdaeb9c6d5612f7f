#ifndef ZYFA_GEN_ASM_INITIALISATION_H_
#define ZYFA_GEN_ASM_INITIALISATION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "zyfa/gen/asm/control_flow.h"
#include "zyfa/gen/asm/instruction.h"

namespace zyfa::gen {

// Finds the first instruction that reads a register which no path from the
// kernel's entry writes. `at_entry` are the registers that hold something when
// the kernel starts. Bits kept by a partial write do not count as read.
absl::Status CheckInitialised(const std::vector<Instruction>& program,
                              const std::vector<BasicBlock>& blocks,
                              const UnitRanges& at_entry,
                              const std::vector<std::string>& label_names);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_INITIALISATION_H_

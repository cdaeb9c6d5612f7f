#ifndef ZYFA_EMU_CYCLES_CODE_REGION_H_
#define ZYFA_EMU_CYCLES_CODE_REGION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/cycles/instruction_time.h"
#include "zyfa/emu/cycles/steady_state.h"

namespace zyfa::emu {

// A stretch of code: steps [first, end).
struct CodeRegion {
  std::string name;
  uint32_t first = 0, end = 0;
};

// The phases of a kernel, in the order of their addresses; they cover the code
// from its entry to the next kernel's. Each symbol in there starts one of its
// name, the first by name where several lie at one place ("phase.NAME" starts
// NAME); what lies before the first symbol is "entry". Empty if the kernel has
// no symbol but its own.
std::vector<CodeRegion> PhasesBySymbol(const CodeObject& code,
                                       const KernelInfo& kernel);

// For code without symbols: "before loop", "loop 0x1a4", "after loop 0x1a4" and
// so on, of the first loops in `loops` that do not overlap. `instructions` is
// indexed by step. One phase, "all", if there are no loops.
std::vector<CodeRegion> PhasesByLoop(
    absl::Span<const TracedLoop> loops,
    absl::Span<const InstructionTime> instructions);

// "loop 0x1a4", by the byte of .text of its head.
CodeRegion RegionOf(const TracedLoop& loop,
                    absl::Span<const InstructionTime> instructions);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_CODE_REGION_H_

#ifndef ZYFA_EMU_FINDING_H_
#define ZYFA_EMU_FINDING_H_

#include <cstdint>
#include <string>

namespace zyfa::emu {

enum class Severity { kWarning, kError };

// One verdict of the emulator on the code it ran. Errors end the run where
// hardware would not go on either; others are noted and the run goes on.
//
// Rules of every run:
//   error    "unsupported-instruction", "program-counter", "trap",
//            "instruction-budget", "register-out-of-range", "out-of-range"
//            (memory), "lds-out-of-range", "misaligned", "partial-exec"
//            (transposing reads), "waitcnt" (a load's destination is used
//            before an s_waitcnt retired it; noted)
//   warning  "ambiguous-range" (published rules of the buffer range check
//            differ), "unbound-buffer"
// Rules of strict runs, all noted; which are errors, and when, stands with them
// in strict/:
//   "hazard-..." (hazards.h), "pk-fma-fault" (hazards.h), "lds-race" and
//   "lds-dma-unwaited" (lds_races.h), "memory-race" (memory_races.h),
//   "undefined-value" (undefined_values.h), "partial-exec" (matrix
//   instructions), "lds-dma-at-end" and "partial-barrier" (control.h)
// Of RunUnderAllSchedules:
//   error    "schedule" (schedules.h)
struct Finding {
  Severity severity = Severity::kError;
  std::string rule;  // "out-of-range", "unsupported-instruction", ...
  std::string kernel;
  uint64_t pc = 0;  // byte offset inside .text
  std::string disassembly;
  uint32_t workgroup[3] = {0, 0, 0};
  int wave = 0;
  int lane = -1;          // -1: the whole wave
  std::string registers;  // that the rule is about: "v12", "s4", ""
  std::string detail;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_FINDING_H_
